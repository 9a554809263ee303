"""Change top-level members of a JSON object and leave every other byte as it came. The object is known to be valid."""

import re
from collections.abc import Iterator

import msgspec

_STRUCTURE = re.compile(rb'["{}\[\]:,]')
BACKSLASH = ord("\\")
_SPACE = b" \t\r\n"


def put_first(body: bytes, member: bytes) -> bytes:
    """Add a member that the object does not have."""
    start = body.index(b"{") + 1
    separator = b"" if body[start:].lstrip(_SPACE)[:1] == b"}" else b","
    return body[:start] + member + separator + body[start:]


def replace(body: bytes, changes: dict[str, bytes]) -> bytes:
    """Set members that the object has to other JSON values."""
    pieces, kept = [], 0
    for name, start, end in _members(body):
        if name in changes:
            pieces += [body[kept:start], changes[name]]
            kept = end
    return b"".join([*pieces, body[kept:]])


def _members(body: bytes) -> Iterator[tuple[str, int, int]]:
    """The name of each top-level member and where its value begins and ends, the space around it left out."""
    depth, position, string, name, start = 0, 0, b"", "", 0
    while (match := _STRUCTURE.search(body, position)) is not None:
        mark, here, position = match[0], match.start(), match.end()
        if mark == b'"':
            position = _string_end(body, here)
            string = body[here:position] if depth == 1 else b""
        elif mark in b"{[":
            depth += 1
        elif depth == 1 and mark == b":":
            name, start = msgspec.json.decode(string, type=str), _skip_space(body, position)
        elif depth == 1 and mark in b",}" and start:
            yield name, start, _skip_space_back(body, here)
        if mark in b"}]":
            depth -= 1


def _string_end(body: bytes, start: int) -> int:
    """Past the quote that closes a string: the first one with an even number of backslashes before it."""
    end = body.index(b'"', start + 1)
    while body[end - 1] == BACKSLASH and _backslashes(body, end) % 2:
        end = body.index(b'"', end + 1)
    return end + 1


def _backslashes(body: bytes, end: int) -> int:
    start = end
    while body[start - 1] == BACKSLASH:
        start -= 1
    return end - start


def _skip_space(body: bytes, position: int) -> int:
    while body[position] in _SPACE:
        position += 1
    return position


def _skip_space_back(body: bytes, position: int) -> int:
    while body[position - 1] in _SPACE:
        position -= 1
    return position
