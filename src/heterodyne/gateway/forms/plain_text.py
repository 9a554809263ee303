"""Events that differ from the one before by nothing but a piece of text, which is nearly every token.

The text of a chat's event is JSON, and so is that of every API's: where all the rest of an event is known, it goes on
as the bytes that came.
"""

from typing import Final, final

import msgspec

QUOTE: Final = 0x22
BACKSLASH: Final = 0x5C

_decode = msgspec.json.Decoder(str).decode


@final
class PlainText:
    """How the events of one stream look around the text in one of their members."""

    __slots__ = ("_head", "_member", "_tail")

    def __init__(self, member: bytes) -> None:
        self._member = b'"%b":' % member
        self._head = self._tail = b""

    def learn(self, data: bytes, text: str) -> None:
        """From an event that was looked into and adds this text and nothing else."""
        at = data.find(self._member)
        start = data.find(b'"', at + len(self._member))
        end = data.find(b'"', start + 1)
        if at < 0 or start < 0 or end < 0 or data.find(self._member, end) >= 0:
            return
        try:
            is_text = _decode(data[start : end + 1]) == text
        except (msgspec.DecodeError, UnicodeDecodeError):
            is_text = False  # an escaped quote is not its end
        if is_text:
            self._head, self._tail = data[:start], data[end + 1 :]

    def try_text(self, data: bytes, start: int, end: int) -> bytes | None:
        """The text of an event that looks like the one before, in JSON; None: it has to be looked into.

        The event stands in `data` from `start` to `end`: this runs for every token, and a copy costs as much as the
        rest of it.
        """
        head, tail = self._head, self._tail
        first, last = start + len(head), end - len(tail) - 1  # where its quotes should be
        if last - first < 2 or not head or not data.startswith(head, start) or not data.startswith(tail, last + 1):
            return None
        # Without a quote or an escape that ends it inside, it is one string, and no more than that.
        if data[first] != QUOTE or data[last] != QUOTE or data[last - 1] == BACKSLASH:
            return None
        return data[first : last + 1] if data.find(b'"', first + 1, last) < 0 else None
