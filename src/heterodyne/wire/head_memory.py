"""The last head of a connection: one that says the same again, or nearly, is known without being parsed.

Clients and engines send one head over and over; another length, date or trace id is all that tells two apart. What is
recalled is what llhttp would have read: lines are the same to the letter, but for plain values of headers that change
nothing about framing.
"""

import re
from typing import Final, final

LENGTH_DIGITS_MAX: Final = 18
CONTENT_LENGTH: Final = b"content-length"
# What these say was understood together with the rest of the head.
FRAMING: Final = frozenset(
    {
        *(b"connection", b"expect", b"host", b"http2-settings", b"keep-alive", b"proxy-connection"),
        *(b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    }
)
# Printable, without spaces around it; of anything else the parser is asked.
_is_plain: Final = re.compile(rb"(?:[!-~](?:[ -~]*[!-~])?)?").fullmatch


@final
class HeadMemory:
    """One per connection; empty where heads are not alike."""

    __slots__ = ("_head", "_lines", "headers")

    def __init__(self) -> None:
        self._head = b""  # with its blank line
        self._lines: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}  # of the head that was recalled last; nobody changes them

    def keep(self, head: bytes, headers: dict[bytes, bytes]) -> None:
        """A head that was parsed, with its blank line; its fields have different names."""
        lines = head[:-4].split(b"\r\n")
        if len(lines) == len(headers) + 1:
            self._head, self._lines, self.headers = head, lines, headers
        else:  # one is folded
            self.forget()

    def forget(self) -> None:
        """There is nothing to be recalled."""
        self._head, self._lines, self.headers = b"", [], {}

    def recall(self, data: bytes) -> int:
        """Where the head ends that the data begin with; 0: it is another, or not whole."""
        if not self._head:
            return 0
        if data.startswith(self._head):
            return len(self._head)
        end = data.find(b"\r\n\r\n") + 4
        if end < 4:
            return 0
        lines = data[: end - 4].split(b"\r\n")
        headers = self._nearly(lines)
        if headers is None:
            return 0
        self._head, self._lines, self.headers = data[:end], lines, headers
        return end

    def _nearly(self, lines: list[bytes]) -> dict[bytes, bytes] | None:
        """The headers of a head that differs in plain values alone."""
        kept = self._lines
        if len(lines) != len(kept) or lines[0] != kept[0]:
            return None
        headers = self.headers.copy()
        for at in range(1, len(lines)):
            line, before = lines[at], kept[at]
            if line == before:
                continue
            colon = before.find(b":")
            if not line.startswith(before[: colon + 1]):
                return None
            name, value = before[:colon].lower(), line[colon + 1 :].lstrip(b" ")
            if name in FRAMING or not (_is_length(value) if name == CONTENT_LENGTH else _is_plain(value)):
                return None
            headers[name] = value
        return headers


def _is_length(value: bytes) -> bool:
    return value.isdigit() and len(value) <= LENGTH_DIGITS_MAX
