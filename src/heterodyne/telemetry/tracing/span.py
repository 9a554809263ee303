"""One span, in the words of OpenTelemetry and without its library."""

from enum import StrEnum

from msgspec import Struct

Attribute = str | bool | int | float
Attributes = dict[str, Attribute]


class SpanKind(StrEnum):
    """On which side of a call it was."""

    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened at one moment."""

    name: str
    at_ns: int
    attributes: Attributes = {}


class Span(Struct, frozen=True, kw_only=True):
    """Something that took time. Times are nanoseconds since the epoch."""

    name: str
    kind: SpanKind = SpanKind.INTERNAL
    trace_id: int
    span_id: int
    parent_id: int  # 0: the trace begins with it
    is_parent_remote: bool = False
    state: str = ""
    start_ns: int
    end_ns: int
    attributes: Attributes = {}
    events: tuple[Event, ...] = ()
    links: tuple[int, ...] = ()  # spans of the same trace that it goes on from
    error: str = ""  # what failed; empty: nothing did
