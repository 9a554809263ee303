"""What a worker asks of the place where the workers of all gateways leave their reports of the fleet."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct


class ReportCall(Struct, frozen=True, kw_only=True):
    """Everything that a worker has to say, and what it knows already."""

    sender: str  # the worker, while this process of it lives
    gateway: str  # whose workers tell each other of prompts by themselves
    version: int
    body: bytes
    known: Mapping[str, int]  # versions of others' reports: their bodies are not sent again
    gossip: Sequence[bytes] = ()
    gossip_after: str = ""  # up to where it has read; empty: it begins with what is not too old


class ReportEntry(Struct, frozen=True, kw_only=True):
    """The report of another worker."""

    sender: str
    version: int
    age_s: float  # by the clock of the store, which all of them share
    body: bytes | None  # None: of that version it is known


class ReportAnswer(Struct, frozen=True, kw_only=True):
    """What others have left."""

    entries: Sequence[ReportEntry]
    gossip: Sequence[bytes]
    gossip_to: str


class ReportStore(Protocol):
    """Keeps the newest report of each worker for a few seconds, and gossip for a minute."""

    async def exchange(self, call: ReportCall) -> ReportAnswer:
        """Leave one's own and read the others'; raises `StoreUnavailable` when there is no answer in time."""
        ...

    async def leave(self, sender: str) -> None:
        """The worker has ended: what it reported is no longer so. Raises `StoreUnavailable`."""
        ...

    async def close(self) -> None: ...
