"""Pure: one reload of all gateways, from its proposal to its end.

A database keeps one `FleetReloadState`, which is replaced by compare and set: what is decided is decided once, whoever
writes it. Any gateway may write the next step, so none that dies leaves the others waiting. Nobody compares clocks:
how long a phase lasts each measures from when it first saw it.

    PREPARING -- all are ready --> TAKING -- all have taken it, or TAKE_S passed --> TAKEN
        |                            |
        | one refuses, or time's up  | one cannot take it
        v                            v
     REFUSED                       UNDONE
"""

from collections.abc import Mapping
from enum import StrEnum
from math import inf
from typing import Final

from msgspec import Struct, structs

TAKE_S: Final = 15.0  # from the decision; a gateway that is silent for so long is away, and takes it when it is back
PROBLEM_CHARS_MAX: Final = 2000


class ReloadPhase(StrEnum):
    """How far it has come."""

    PREPARING = "preparing"
    TAKING = "taking"
    TAKEN = "taken"
    REFUSED = "refused"  # nobody took it
    UNDONE = "undone"  # those who took it go back


class FleetReloadState(Struct, frozen=True, kw_only=True):
    """The last reload of all gateways, as the database keeps it."""

    number: int  # one higher with every reload
    phase: ReloadPhase
    proposer: str  # for people: host and port
    version: str
    parts: dict[str, str]  # of the version, by which a gateway says where its own file differs
    base: int  # the last one before it that holds; 0: none is known
    before: str  # its version, or what the proposer worked by
    prepare_s: float
    members: dict[str, str]  # those who were heard of: names for people, by process
    ready: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    problem: str = ""  # why it was refused or undone, with the name of the gateway; or who has not taken it yet

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.phase in (ReloadPhase.PREPARING, ReloadPhase.TAKING)

    @property
    def in_words(self) -> str:
        """What it waits for; empty: it has ended."""
        told = self.ready if self.phase is ReloadPhase.PREPARING else self.taken
        names = ", ".join(sorted(self.members[one] for one in told)) or "nobody yet"
        return f"of {self.proposer}; {self.phase}, done by {names}" if self.is_open else ""

    @property
    def is_decided(self) -> bool:
        """Whether it holds for all gateways."""
        return self.phase in (ReloadPhase.TAKING, ReloadPhase.TAKEN)

    @property
    def in_force(self) -> tuple[int, str]:
        """The reload that all are to work by, and its version; 0: none is known."""
        return (self.number, self.version) if self.is_decided else (self.base, self.before)


def proposed(
    last: FleetReloadState | None,
    *,
    sender: str,
    version: str,
    parts: Mapping[str, str],
    before: str,
    prepare_s: float,
    members: Mapping[str, str],
    known: int = 0,
) -> FleetReloadState | None:
    """By a gateway that is ready itself, and one of the members; None: another reload is under way.

    `known` is the highest number that it knows, which a database that has lost all does not.
    """
    if last is not None and last.is_open:
        return None
    base, agreed = (0, before) if last is None else last.in_force
    state = FleetReloadState(
        number=1 + max(known, 0 if last is None else last.number),
        phase=ReloadPhase.PREPARING,
        proposer=members[sender],
        version=version,
        parts=dict(parts),
        base=base,
        before=agreed if base else before,
        prepare_s=prepare_s,
        members=dict(members),
    )
    return ready(state, state.number, sender)


def ready(state: FleetReloadState, number: int, sender: str) -> FleetReloadState | None:
    """A member would take it; None: that is known, or no longer asked."""
    if not _asks(state, number, ReloadPhase.PREPARING, sender) or sender in state.ready:
        return None
    told = (*state.ready, sender)
    phase = ReloadPhase.TAKING if len(told) == len(state.members) else state.phase
    return structs.replace(state, ready=told, phase=phase)


def refused(state: FleetReloadState, number: int, sender: str, reason: str) -> FleetReloadState | None:
    """A member would not take it, so nobody does; one that has said yes is bound by it."""
    if not _asks(state, number, ReloadPhase.PREPARING, sender) or sender in state.ready:
        return None
    return _ended(state, ReloadPhase.REFUSED, f"{state.members[sender]}: {reason}")


def taken(state: FleetReloadState, number: int, sender: str) -> FleetReloadState | None:
    """A member works by it."""
    if not _asks(state, number, ReloadPhase.TAKING, sender) or sender in state.taken:
        return None
    told = (*state.taken, sender)
    phase = ReloadPhase.TAKEN if len(told) == len(state.members) else state.phase
    return structs.replace(state, taken=told, phase=phase)


def failed(state: FleetReloadState, number: int, sender: str, reason: str) -> FleetReloadState | None:
    """A member could not take what it had said yes to, so all go back."""
    if not _asks(state, number, ReloadPhase.TAKING, sender) or sender in state.taken:
        return None
    return _ended(state, ReloadPhase.UNDONE, f"{state.members[sender]}: {reason}")


def overdue(state: FleetReloadState, number: int) -> FleetReloadState | None:
    """Its phase has lasted too long, as somebody saw it."""
    if state.number != number:
        return None
    if state.phase is ReloadPhase.PREPARING:
        silent = _names(state, state.ready)
        return _ended(state, ReloadPhase.REFUSED, f"{silent} did not answer within {state.prepare_s:g} s")
    if state.phase is ReloadPhase.TAKING:
        silent = _names(state, state.taken)
        return _ended(state, ReloadPhase.TAKEN, f"{silent} has not said within {TAKE_S:g} s that it has taken it")
    return None


class MemberStep(StrEnum):
    """What one gateway does next."""

    WAIT = "wait"
    PREPARE = "prepare"  # look whether it could take it, and say so
    TAKE = "take"
    TELL = "tell"  # that it has taken it
    UNDO = "undo"
    CLOSE = "close"  # the phase is overdue


class ReloadMember:
    """What one gateway knows of reloads of all; times are of its own clock, which never goes back."""

    def __init__(self, sender: str) -> None:
        self._sender = sender
        self._seen: tuple[int, ReloadPhase] | None = None
        self._seen_at_s = -inf
        self.done = 0  # the last reload that needs nothing more here
        self.taken = 0  # the last one that was taken here

    def step(self, state: FleetReloadState, now_s: float) -> MemberStep:
        """The state was read just now."""
        if self._seen != (seen := (state.number, state.phase)):
            self._seen, self._seen_at_s = seen, now_s
        lasted_s, is_member = now_s - self._seen_at_s, self._sender in state.members
        is_preparing, is_taking = state.phase is ReloadPhase.PREPARING, state.phase is ReloadPhase.TAKING
        number, _ = state.in_force
        if is_preparing and lasted_s >= state.prepare_s:
            return MemberStep.CLOSE
        if not state.is_decided and self.taken > number:
            return MemberStep.UNDO  # of this reload, or of one whose end was not seen here
        if self.done < number:
            return MemberStep.TAKE
        if is_preparing and is_member and self._sender not in state.ready:
            return MemberStep.PREPARE
        if is_taking and is_member and self._sender not in state.taken and self.taken == number:
            return MemberStep.TELL
        return MemberStep.CLOSE if is_taking and lasted_s >= TAKE_S else MemberStep.WAIT

    def took(self, number: int) -> None:
        """It works by it."""
        self.done = self.taken = number

    def gave_up(self, number: int) -> None:
        """It goes on by what it has: its own file says something else, or it could not take it in time."""
        self.done = number

    def undid(self) -> None:
        """It works by what it had before."""
        self.taken = 0


def _asks(state: FleetReloadState, number: int, phase: ReloadPhase, sender: str) -> bool:
    return state.number == number and state.phase is phase and sender in state.members


def _ended(state: FleetReloadState, phase: ReloadPhase, problem: str) -> FleetReloadState:
    return structs.replace(state, phase=phase, problem=problem[:PROBLEM_CHARS_MAX])


def _names(state: FleetReloadState, told: tuple[str, ...]) -> str:
    return ", ".join(sorted(name for sender, name in state.members.items() if sender not in told))
