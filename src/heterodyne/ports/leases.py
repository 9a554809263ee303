"""What a worker asks of the keeper of limits' counters: leases, small parts of what a window has left.

A counter's value is what was lent and not given back, so it is never over the limit unless a request cost more than
was thought. One exchange carries everything a worker has to say, and is applied once however often it is sent.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

NO_WINDOW = 0  # the window of a counter of what runs now


class Want(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A lease asked for."""

    counter: str
    window: int  # its start, in seconds since the epoch
    ends_s: float
    limit: int
    at_least: int  # less is of no use
    wanted: int  # more than that saves the next exchange


class LeaseReport(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A correction, never refused: below zero what is given back, above zero what was used without a lease.

    Of a counter without a window it is all that the holder holds now, so that what was lost is restored.
    """

    counter: str
    window: int
    ends_s: float
    amount: int


class LeaseCall(Struct, frozen=True, kw_only=True, array_like=True):
    """First the reports are booked; then each group of wants gets at least what it needs, or nothing."""

    holder: str  # the worker
    sequence: int  # one higher for each new call; a call sent again has its old one, and gets its old answer
    reports: tuple[LeaseReport, ...] = ()
    groups: tuple[tuple[Want, ...], ...] = ()


class Grant(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What was lent, nothing where its group was refused, and what the counter has left after it."""

    amount: int
    left: int  # below zero: more was used than may be


class LeaseAnswer(Struct, frozen=True, kw_only=True, array_like=True):
    """As many groups, with as many grants, as the call has wants."""

    epoch: str  # another one: the counters began again from nothing
    holders: int  # workers heard of lately, the asking one included
    groups: tuple[tuple[Grant, ...], ...] = ()


class LeaseSource(Protocol):
    """Keeps the counters. Each holder waits for an answer before it calls again."""

    async def exchange(self, call: LeaseCall) -> LeaseAnswer:
        """Raises `StoreUnavailable` when there is no answer in time; whether the call was applied is then not known."""
        ...

    async def leave(self, holder: str) -> None:
        """The holder is gone: nothing of it runs any longer. What it leased of windows counts as used."""
        ...

    async def close(self) -> None: ...


class LimitCounter(NamedTuple):
    """One counter in one window."""

    name: str
    window: int


class LimitReader(Protocol):
    """Says how far counters have got, without taking anything."""

    async def read(self, counters: Sequence[LimitCounter]) -> tuple[int, ...]:
        """What is lent or used, in their order: a lease that a worker holds and has not used yet counts as used.

        Raises `StoreUnavailable` when there is no answer in time.
        """
        ...


class LeaseKeeper(LeaseSource, LimitReader, Protocol):
    """A source that keeps the counters itself, rather than asking another."""
