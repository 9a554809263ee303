"""Events that differ from the one before by nothing but a piece of text, which is nearly every token.

The text of a chat's event is JSON, and so is that of every API's: where all the rest of an event is known, it goes on
as the bytes that came.
"""

from typing import Final, final

import msgspec

NEWLINE: Final = 0x0A
QUOTE: Final = 0x22
BACKSLASH: Final = 0x5C
SIZE: Final = b"0123456789abcdef"
RUN_BYTES_MAX: Final = 16384  # looked at together: where plain events and others take turns, each look begins anew

_decode = msgspec.json.Decoder(str).decode


@final
class PlainText:
    """How the events of one stream look around the text in one of their members."""

    __slots__ = ("_head", "_member", "_tail")

    def __init__(self, member: bytes) -> None:
        self._member = b'"%b":' % member
        # From the end of a chunk's size to the quote before the text, and from the quote behind it to the chunk's end.
        self._head = self._tail = b""

    def learn(self, data: bytes, text: str) -> None:
        """From an event that was looked into: it adds this text and nothing else, or, without one, it does more."""
        if not text:
            self._head = b""
            return
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
            self._head, self._tail = b"\r\ndata: " + data[: start + 1], data[end:] + b"\n\n\r\n"

    def try_one(self, data: bytes) -> bytes:
        """The text of one whole chunk, in JSON without its quotes; empty: it has to be looked into."""
        piece = data.removesuffix(self._tail)
        return self._text_of(piece) if self._head and piece is not data else b""

    def run(self, data: bytes, start: int) -> tuple[list[bytes], int]:
        """The texts of the chunks from `start` on that look like the one before, and where the first other begins.

        This runs for every token: `find` and `startswith` with places cost three times as much as what is done here,
        and what can be seen of all texts together is not looked for in each.
        """
        head = self._head
        if not head:
            return [], start
        if start or len(data) > RUN_BYTES_MAX:
            data = data[start : start + RUN_BYTES_MAX]
        pieces = data.split(self._tail)
        rest = pieces.pop()
        texts = [piece.lstrip(SIZE).removeprefix(head) for piece in pieces]
        together = b"".join(texts)
        # One that begins otherwise has kept its beginning, with its quotes and the line's end before it.
        if QUOTE in together or NEWLINE in together or not all(texts) or _may_escape(texts, together):
            return self._run_one_by_one(pieces, start)
        return texts, start + len(data) - len(rest)

    def _run_one_by_one(self, pieces: list[bytes], start: int) -> tuple[list[bytes], int]:
        """The same of chunks without their tails, where some look otherwise."""
        texts: list[bytes] = []
        for piece in pieces:
            text = self._text_of(piece)
            if not text:
                break
            texts.append(text)
        seen = len(texts)
        return texts, start + sum(map(len, pieces[:seen])) + seen * len(self._tail)

    def _text_of(self, piece: bytes) -> bytes:
        """Of a chunk without its tail; nothing where it begins otherwise.

        An escaped quote, or what may be one, has to be looked into.
        """
        sized = piece.lstrip(SIZE)
        text = sized.removeprefix(self._head)
        if text is sized or QUOTE in text or (BACKSLASH in text and text.endswith(b"\\")):
            return b""
        return text


def _may_escape(texts: list[bytes], together: bytes) -> bool:
    """Whether one may escape the quote behind it."""
    return BACKSLASH in together and b'\\"' in b'"'.join((*texts, b""))
