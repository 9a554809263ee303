"""Reads the beginning of a long JSON text and no more of it than is kept, a little at a time.

A decoder in C would read all of it in one go, and nothing else in the process runs meanwhile.
"""

import re
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there, and not in the stubs
from typing import Any

from heterodyne.domain.audit import CUT

DEPTH_MAX = 200
SCALAR_CHARS = 8  # what a number, a truth or a nothing counts for
ESCAPED_BYTES = 6  # the most that a character takes
DIGITS_MAX = 40  # a longer number is no number of sense
_SPACE = re.compile(r"[ \t\r\n]*+")
_SCALAR = re.compile(r"-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null")
_HALF_CODE = re.compile(r"u[0-9a-fA-F]{0,3}\Z")
_WORDS = {"true": True, "false": False, "null": None}


def read_beginning(body: bytes, chars_max: int) -> Any:
    """A value with so many characters of the text in it, and `CUT` where it goes on; raises ValueError for no JSON."""
    return _Beginning(body[: ESCAPED_BYTES * chars_max].decode("utf-8", "replace"), chars_max).value(0)


class _Beginning:
    def __init__(self, text: str, chars_max: int) -> None:
        self._text = text
        self._left = chars_max
        self._at = 0
        self._is_cut = False

    def value(self, depth: int) -> Any:
        sign = self._next()
        if self._left <= 0 or not sign:
            self._is_cut = True
            return CUT
        if depth > DEPTH_MAX:
            raise ValueError("nested too deeply")
        if sign == '"':
            return self._string()
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._list(depth)
        return self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._open()
        while self._goes_on("}", is_first=not found):
            if self._next() != '"':
                raise ValueError("a name is expected")
            name = self._string()
            if not self._is_cut and self._next() == ":":
                self._at += 1
            elif not self._is_cut and self._next():
                raise ValueError("a colon is expected")
            found[name] = self.value(depth + 1)
        if self._is_cut:
            found[CUT] = CUT
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._open()
        while self._goes_on("]", is_first=not found):
            found.append(self.value(depth + 1))
        return found

    def _open(self) -> None:
        self._at += 1
        self._left -= 1

    def _goes_on(self, end: str, *, is_first: bool) -> bool:
        """Whether there is another member, and stand before it."""
        sign = self._next()
        if self._is_cut or self._left <= 0 or not sign:
            self._is_cut = True
            return False
        if sign == end:
            self._at += 1
            return False
        if not is_first:
            if sign != ",":
                raise ValueError("a comma is expected")
            self._at += 1
        return True

    def _string(self) -> str:
        start = self._at + 1
        try:
            text, self._at = scanstring(self._text, start, False)
        except JSONDecodeError:
            rest = self._text[start:]
            if '"' in rest.replace('\\"', ""):
                raise  # it has an end, and something is wrong with it
            text, _ = scanstring(_without_half_escape(rest) + '"', 0, False)
            self._at, self._is_cut = len(self._text), True
        self._left -= len(text) + 1
        return str(text)

    def _scalar(self) -> Any:
        match = _SCALAR.match(self._text, self._at)
        if match is None:
            raise ValueError("a value is expected")
        self._at = match.end()
        self._left -= max(SCALAR_CHARS, len(match[0]))
        word = match[0]
        if word in _WORDS:
            return _WORDS[word]
        if len(word) > DIGITS_MAX:
            return word
        return float(word) if set(word) & set(".eE") else int(word)

    def _next(self) -> str:
        """The next sign that is no space; empty at the end."""
        match = _SPACE.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._text[self._at : self._at + 1]


def _without_half_escape(text: str) -> str:
    """A text that was cut anywhere, without the beginning of an escape that lost its end there."""
    code = _HALF_CODE.search(text[-4:])
    for before in (text[: len(text) - len(code[0])] if code else text, text):
        if (len(before) - len(before.rstrip("\\"))) % 2:
            return before[:-1]
    return text
