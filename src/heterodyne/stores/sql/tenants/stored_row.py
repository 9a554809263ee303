"""Reads a stored row as far as this version can: a newer gateway, or a hand, may have written what it does not know.

A field that is unknown is kept and named; a value that cannot be is a problem of its row alone.
"""

import math
import string
from enum import Enum
from typing import TypeVar

import msgspec
from msgspec import Raw

from heterodyne.domain.tenant import Limits, Scopes

D = TypeVar("D", Limits, Scopes)
E = TypeVar("E", bound=Enum)

DIGEST_CHARS = 64

_fields = msgspec.json.Decoder(dict[str, Raw]).decode


class StoredRow:
    """One row while it is read; afterwards what was wrong with it."""

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._problems: list[str] = []

    @property
    def unread(self) -> tuple[str, ...]:
        """The fields that this version does not know."""
        return tuple(self._unread)

    @property
    def problem(self) -> str:
        """What it could not read; empty: nothing."""
        return "; ".join(self._problems)

    def document(self, name: str, stored: str, kind: type[D]) -> D:
        """Limits or scopes; none where they cannot be read."""
        try:
            fields = _fields(stored)
            known = {field: fields.pop(field) for field in kind.__struct_fields__ if field in fields}
            document = msgspec.json.decode(msgspec.json.encode(known), type=kind)
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            self._problems.append(f"{name}: {error}")
            return kind()
        self._unread += [f"{name}.{field}" for field in fields]
        return document

    def choice(self, name: str, stored: str, kind: type[E], otherwise: E) -> E:
        """One of a closed set."""
        try:
            return kind(stored)
        except ValueError:
            self._problems.append(f"{name}: {stored!r} is unknown to this version")
            return otherwise

    def weight(self, stored: float) -> float:
        """Above zero."""
        if stored > 0 and math.isfinite(stored):
            return stored
        self._problems.append(f"weight: {stored!r} is not above zero")
        return 1.0

    def digest(self, stored: str) -> str:
        """A SHA-256 in hexadecimal."""
        if len(stored) != DIGEST_CHARS or set(stored) - set(string.hexdigits):
            self._problems.append("secret_sha256: not a SHA-256 in hexadecimal")
        return stored


def carried(stored: str, document: Limits | Scopes) -> str:
    """The document in the place of another one, with the fields of that one which this version does not know."""
    try:
        fields = _fields(stored)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        fields = {}
    unknown = {field: value for field, value in fields.items() if field not in document.__struct_fields__}
    return msgspec.json.encode({**unknown, **msgspec.to_builtins(document)}).decode()
