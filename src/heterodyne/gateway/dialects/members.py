"""The top-level members of a body: each named once, in plain letters; those that are no part of the API are listed.

Structs say nothing of members they do not know, and of two with one name they take the last where an engine may take
the first. So the members are read once more, unparsed: what an engine gets is what was looked at here.
"""

import re
from collections.abc import Collection
from itertools import chain
from typing import Final

import msgspec
from msgspec import Raw

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects.body import decode

Members = dict[str, Raw]

PRIVATE_KEYS_MAX: Final = 64  # of one object that are told apart; more are one field
PRIVATE_MAX: Final = 256  # of one body: each is looked up for every replica that may be asked
NAME_CHARS_MAX: Final = 100
OBJECT_START: Final = ord("{")
NONE: Final[dict[str, Raw]] = {}

_decoder = msgspec.json.Decoder(Members)  # it reads names that structs do not know: they may still be no text
_OPEN: Final = re.compile(rb"[ \t\r\n]*\{[ \t\r\n]*")
_COLON: Final = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
_COMMA: Final = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_CLOSE: Final = re.compile(rb"[ \t\r\n]*\}[ \t\r\n]*\Z")
_NAME: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')


def read_members(body: bytes) -> tuple[Members, int]:
    """Those of a JSON object that is known to be valid, and the bytes of their values.

    Raises where one is named twice or with escapes.
    """
    members = decode(_decoder, body)
    value_bytes, name_bytes = 0, 0
    for name, value in members.items():
        value_bytes += len(value)
        name_bytes += len(name)
    # Without spaces there is one length that fits; whoever has more has spaces, or something to hide.
    if len(body) != 1 + 4 * len(members) + name_bytes + value_bytes and not _is_spaced(body, members):
        _check_spelling(body, members)
    return members, value_bytes


def private(members: Members, api: frozenset[str]) -> dict[str, Raw]:
    """What is no part of the API, by path: an object that is not is told by its own members."""
    if api.issuperset(members):
        return NONE
    found: dict[str, Raw] = {}
    for name in members.keys() - api:
        value = members[name]
        inner = decode(_decoder, value) if memoryview(value)[0] == OBJECT_START else NONE
        if inner:
            found |= flattened(name, inner)
        else:
            found[name[:NAME_CHARS_MAX]] = value
    return found


def flattened(name: str, inner: Members) -> dict[str, Raw]:
    """The members of an object by path; of very many the object itself, which no list of fields has."""
    name = name[:NAME_CHARS_MAX]
    if len(inner) > PRIVATE_KEYS_MAX:
        return {name: next(iter(inner.values()))}
    return {f"{name}.{key[:NAME_CHARS_MAX]}": one for key, one in inner.items()}


def listed(*paths: Collection[str]) -> tuple[str, ...]:
    """All of them; raises where there are more than any engine has fields."""
    if sum(map(len, paths)) > PRIVATE_MAX:
        raise InvalidField(f"The body has more than {PRIVATE_MAX} fields that are no part of the API.", param=None)
    return tuple(chain.from_iterable(paths))


def bytes_of(members: Members, names: frozenset[str]) -> int:
    """What the values of these members have together, where there are any."""
    found = 0
    for name in members:
        if name in names:
            found += len(members[name])
    return found


def _is_spaced(body: bytes, members: Members) -> bool:
    """As Python's json writes it unless told otherwise, which is how most bodies with spaces come."""
    pairs = zip(map(str.encode, members), members.values(), strict=True)
    return body == b"{" + b", ".join(map(b'"%b": %b'.__mod__, pairs)) + b"}"


def _check_spelling(body: bytes, members: Members) -> None:
    """Walk over the body as it would be written with these members alone, whatever the space between them."""
    at = _end(_OPEN, body, 0)
    for place, (name, value) in enumerate(members.items()):
        if place:
            at = _end(_COMMA, body, at)
        key = b'"%b"' % name.encode()
        if at < 0 or not body.startswith(key, at):
            raise _misspelt(body, at)
        at = _end(_COLON, body, at + len(key))
        if at < 0 or not body.startswith(bytes(value), at):
            raise _misspelt(body, -1, name)
        at += len(value)
    if _CLOSE.match(body, at) is None:
        raise _misspelt(body, _end(_COMMA, body, at))


def _end(pattern: re.Pattern[bytes], body: bytes, at: int) -> int:
    """Where a match that begins here ends; -1: there is none."""
    match = pattern.match(body, at) if at >= 0 else None
    return -1 if match is None else match.end()


def _misspelt(body: bytes, at: int, name: str = "") -> InvalidField:
    match = _NAME.match(body, at) if at >= 0 else None
    if match is not None and match.end() - at <= 6 * NAME_CHARS_MAX:
        name = msgspec.json.decode(match[0])
    path = name[:NAME_CHARS_MAX]
    return InvalidField(
        f"{path or 'The body'}: a field is named twice or with escapes; name each once, in plain letters.",
        param=path or None,
    )
