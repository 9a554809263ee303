"""Where the events of a stream begin and end, in bytes that came as they came."""

import re
from collections.abc import Iterator
from typing import Final

EVENT_TAIL: Final = b"\n\n\r\n"  # the end of an event and of the chunk it came in
EVENT_END: Final = re.compile(rb"(?:\r?\n){2,}")
FIELDS: Final = (b"data:", b":", b"event:", b"id:", b"retry:")


def try_data(event: bytes) -> bytes | None:
    """What an event says; None: it is a comment. Some providers say its type on a line before."""
    if event.startswith(b"data:"):
        return event[5:].strip()
    start = event.find(b"\ndata:")
    return None if start < 0 else event[start + 6 :].strip()


def plain_bytes(data: bytes, chunks: int) -> int:
    """How much of `data`, from its start, is whole chunks of whole events with nothing in them to look into."""
    if chunks > 1 and data.count(EVENT_TAIL) != chunks:
        return 0  # an event cut by chunks hides what is in it
    end = len(data)
    for word in (b'"usage"', b'"error"'):
        at = data.find(word)
        if 0 <= at < end:
            end = at
    plain = data.rfind(b"}" + EVENT_TAIL, 0, end)
    return plain + 1 + len(EVENT_TAIL) if plain >= 0 else 0


def ends(data: bytes) -> Iterator[re.Match[bytes]]:
    """Where events end. Only line ends are looked at: the pattern by itself would try every byte of a long event."""
    at = data.find(b"\n")
    while at >= 0:
        end = EVENT_END.match(data, at - 1 if data[at - 1 : at] == b"\r" else at)
        if end is None:
            at = data.find(b"\n", at + 1)
        else:
            yield end
            at = data.find(b"\n", end.end())


def may_become_event(tail: bytes) -> bool:
    return any(tail.startswith(field[: len(tail)]) for field in FIELDS)
