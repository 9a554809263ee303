"""A body without its long texts: the little that is read of a long prompt, without a step for each of its bytes.

The ends of a text are found by memchr, and what may not stand in one by a comparison of all its bytes at once
(`plain_ascii`); a JSON parser takes ten times as long. In the place of each text stands a mark that no client can know:
whoever finds as many marks as texts were left out, each where a text may be, has read what the body says. Where
anything is unusual there is no outline, and the whole body is read, so that errors are those of the whole body.
"""

from secrets import token_hex
from typing import Final, final

import msgspec
from msgspec import Raw

from heterodyne.gateway.body_size import has_many_escapes, is_large
from heterodyne.gateway.dialects.plain_ascii import PLAIN_ASCII

TEXT_BYTES: Final = 8 * 1024  # of a text that is left out
QUOTES_MAX: Final = 128  # that are looked at, escaped ones too; where there are more the parser is as quick
KEYS: Final = (b'"content":', b'"content": ', b'"text":', b'"text": ')
KEY_BYTES: Final = 11
QUOTE: Final = b'"'
BACKSLASH: Final = b"\\"
BACKSLASH_BYTE: Final = 0x5C
MARK: Final = token_hex(16)
MARK_BYTES: Final = MARK.encode()

_check_ascii = msgspec.json.Decoder(Raw).decode
_check_text = msgspec.json.Decoder(str).decode


@final
class Outline:
    """What is left of a body, and where the texts were."""

    __slots__ = ("_ends", "_starts", "_whole", "body", "more_bytes")

    def __init__(self, whole: bytes, starts: list[int], ends: list[int]) -> None:
        self._whole = whole
        self._starts = starts
        self._ends = ends
        kept = [whole[end:start] for end, start in zip([0, *ends], [*starts, len(whole)], strict=True)]
        self.body = MARK_BYTES.join(kept)
        self.more_bytes = len(whole) - len(self.body)  # of the whole body, than are left

    @property
    def texts(self) -> int:
        """How many were left out."""
        return len(self._starts)

    def fill(self, part: bytes) -> bytes:
        """What was made of the outline's beginning, with the texts in the places of their marks."""
        whole = memoryview(self._whole)
        pieces: list[bytes | memoryview] = []
        for place, kept in enumerate(part.split(MARK_BYTES)):
            if place:
                pieces.append(whole[self._starts[place - 1] : self._ends[place - 1]])
            pieces.append(kept)
        return b"".join(pieces)


def try_outline(body: bytes) -> Outline | None:
    """None: it has no long text, or is to be read whole."""
    starts: list[int] = []
    ends: list[int] = []
    start = body.find(QUOTE) + 1  # of the string that is looked at; 0: there is none
    end = start
    for _ in range(QUOTES_MAX):
        if not start:
            break
        end = body.find(QUOTE, end)
        if end < 0:
            return None
        if body[end - 1] == BACKSLASH_BYTE and _is_escaped(body, start, end):
            end += 1
            continue
        if end - start >= TEXT_BYTES and body[max(0, start - 1 - KEY_BYTES) : start - 1].endswith(KEYS):
            if not _is_text(body, start, end):
                return None
            starts.append(start)
            ends.append(end)
        start = end = body.find(QUOTE, end + 1) + 1
    if start or not starts:
        return None
    outline = Outline(body, starts, ends)
    return None if is_large(outline.body) else outline


def _is_escaped(body: bytes, start: int, quote: int) -> bool:
    """Whether an odd number of backslashes stands before it, in the string that begins there."""
    first = quote
    while first > start and body[first - 1] == BACKSLASH_BYTE:
        first -= 1
    return (quote - first) % 2 == 1


def _is_text(body: bytes, start: int, end: int) -> bool:
    """Whether a JSON string may have these bytes, and they are quickly read."""
    is_plain = PLAIN_ASCII.try_check(body, start, end)
    has_escapes = body.find(BACKSLASH, start, end) >= 0
    if is_plain and not has_escapes:
        return True
    if has_escapes and has_many_escapes(body):
        return False
    try:
        (_check_ascii if is_plain else _check_text)(memoryview(body)[start - 1 : end + 1])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
