"""The switches that make an emulator misbehave; each stays on until it is turned off."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import with_near_field


class Garble(StrEnum):
    """Ways to break an answer in its middle."""

    EVENT = "event"  # an event that is not JSON
    FRAME = "frame"  # bytes that are no HTTP chunk
    CUT = "cut"  # the connection is reset
    CLOSE = "close"  # the connection closes as if the answer were complete
    ERROR = "error"  # an error event after a good status


class Poor(StrEnum):
    """Ways to answer badly and well-formed."""

    REFUSE = "refuse"  # it is sorry
    REPEAT = "repeat"  # the same words again and again


class Lie(StrEnum):
    """Ways to be wrong about oneself in metrics."""

    FROZEN = "frozen"  # the page of the moment the switch was turned on
    IDLE = "idle"  # nothing runs, nothing waits, memory is empty
    GARBAGE = "garbage"  # not Prometheus at all


class PoorHandOver(StrEnum):
    """Ways not to hand a prompt's KV over."""

    SILENT = "silent"  # the answer says nothing of it
    EXPIRED = "expired"  # its lease ends at once
    SHORT = "short"  # half of it
    UNREAD = "unread"  # of those that are to read it: they answer 500 to whoever tells them of it


class Faults(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All off by default. Where a share is given, that share of requests is hit, evenly spaced."""

    crash_after_tokens: Annotated[int, Meta(ge=0)] | None = None  # of all answers together; 0 at the next request
    stall: bool = False  # no step ends
    slowdown: Annotated[float, Meta(ge=0.01, le=1000)] = 1.0
    refuse_status: Annotated[int, Meta(ge=400, le=599)] | None = None
    refuse_share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    retry_after_s: Annotated[float, Meta(ge=0)] | None = None  # beside a refusal; None: no such header
    garble: Garble | None = None
    garble_after_tokens: Annotated[int, Meta(ge=0)] = 3
    garble_share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    poor: Poor | None = None
    poor_share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    lie: Lie | None = None
    is_unhealthy: bool = False  # health says so, everything else works
    hand_over: PoorHandOver | None = None  # of prompts whose KV others are to read
    kv_slowdown: Annotated[float, Meta(ge=0.01, le=10000)] = 1.0  # reading KV from others takes so many times as long
    kv_event_loss_share: Annotated[float, Meta(ge=0, le=1)] = 0.0  # of KV event batches; a replay still has them


def parse_faults(pairs: tuple[str, ...]) -> Faults:
    """`name=value` words; a bare name turns a switch on."""
    given: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        given[name.strip()] = _value(value.strip()) if equals else True
    return faults_from(given)


def faults_from(given: dict[str, object]) -> Faults:
    """Switches by name; the error names the one that is wrong."""
    try:
        return msgspec.convert(given, Faults)
    except msgspec.ValidationError as error:
        message = with_near_field(str(error), Faults)
        raise InvalidSpec(f"faults: {message.rstrip('?')}; there are {', '.join(Faults.__struct_fields__)}") from error


def _value(word: str) -> object:
    try:
        return msgspec.json.decode(word)
    except msgspec.DecodeError:
        return word


class Share:
    """Picks a share of a row of events, evenly spaced: of every ten, three are picked at 0.3."""

    __slots__ = ("_owed",)

    def __init__(self) -> None:
        self._owed = 0.0

    def picks(self, share: float) -> bool:
        """Whether this one is picked."""
        self._owed += share
        if self._owed >= 1.0 - 1e-9:
            self._owed -= 1.0
            return True
        return False
