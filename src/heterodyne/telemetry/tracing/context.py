"""W3C trace context: which trace a request belongs to, and how an engine gets it."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

STATE_BYTES_MAX = 512  # of vendors' own words, which are passed on and not read

# Later versions may say more after the flags. They begin as the first does, and `ff` is none.
_PARENT = re.compile(rb"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?")
_STATE = re.compile(rb"[\x20-\x7e]+")

RandomBits = Callable[[int], int]  # so many of them, as an integer


class Trace(Struct, frozen=True, gc=False):
    """Of one request: ids are integers, as they are drawn."""

    trace_id: int
    span_id: int  # of the request as a whole
    parent_id: int  # the client's span; 0: the trace begins here
    is_sampled: bool  # decided before anything happened
    state: str = ""

    @property
    def name(self) -> str:
        """As people and logs write it."""
        return f"{self.trace_id:032x}"


class Hop(Struct, frozen=True, gc=False):
    """One attempt's place in the trace."""

    span_id: int
    lines: bytes  # headers for the engine, whose own spans hang below this one


def begin(headers: Mapping[bytes, bytes], bits: RandomBits, is_sampled: Callable[[int], bool]) -> Trace:
    """The client's trace where it has a readable one, whose wish to be kept is ours; else a new one."""
    found = _PARENT.fullmatch(headers.get(b"traceparent", b""))
    if found is not None:
        version, trace_hex, parent_hex, flags, more = found.groups()
        trace_id, parent_id = int(trace_hex, 16), int(parent_hex, 16)
        if trace_id and parent_id and (version != b"00" or more is None):
            is_wanted = bool(int(flags, 16) & 1)
            return Trace(trace_id, new_id(bits), parent_id, is_wanted, _state(headers))
    trace_id = bits(128) or 1
    return Trace(trace_id, new_id(bits), 0, is_sampled(trace_id))


def hop(trace: Trace, bits: RandomBits) -> Hop:
    """A new place below the request, and the headers that say so."""
    span_id = new_id(bits)
    lines = f"traceparent: 00-{trace.trace_id:032x}-{span_id:016x}-{trace.is_sampled:02x}\r\n"
    if trace.state:
        lines += f"tracestate: {trace.state}\r\n"
    return Hop(span_id, lines.encode())


def new_id(bits: RandomBits) -> int:
    """Of a span; 0 is none."""
    return bits(64) or 1


def _state(headers: Mapping[bytes, bytes]) -> str:
    state = headers.get(b"tracestate", b"").strip()
    is_good = len(state) <= STATE_BYTES_MAX and _STATE.fullmatch(state) is not None
    return state.decode() if is_good else ""
