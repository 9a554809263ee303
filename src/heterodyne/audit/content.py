"""What is kept of a prompt and an answer where a project keeps content: their text, redacted and cut to a length."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.audit.beginning import ESCAPED_BYTES, SCALAR_CHARS, read_beginning
from heterodyne.audit.redact import is_secret_name, redact
from heterodyne.domain.audit import CUT

OVERLAP_CHARS = 1024  # read and redacted beyond the length, so that the cut halves no secret into something unknown
SHORT_BYTES = 65536  # read whole, in one go; of a longer body only what is kept, a little at a time
LINE_BYTES_MAX = 262144
INTEGER_FROM, INTEGER_TO = 10**6, 10**40  # numbers that may be those of a card or a telephone


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(Struct):
    function: _Function | None = None


class _Delta(Struct):
    content: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    index: int = 0
    text: str | None = None
    delta: _Delta | None = None


class _Event(Struct):
    choices: list[_Choice] = []


_events = msgspec.json.Decoder(_Event)


def kept_body(body: bytes, chars_max: int) -> str:
    """A body as it was sent: JSON is redacted string by string, so that no escape hides anything."""
    try:
        is_short = len(body) <= SHORT_BYTES
        value = msgspec.json.decode(body) if is_short else read_beginning(body, chars_max + OVERLAP_CHARS)
        return msgspec.json.encode(_Keeper(chars_max).kept(value)).decode()
    except (ValueError, RecursionError):
        # No JSON, or none of sense; a character has four bytes at most.
        return _kept_text(body[: 4 * (chars_max + OVERLAP_CHARS)].decode("utf-8", "replace"), chars_max)


def kept_answer(pieces: Iterable[bytes], chars_max: int) -> str:
    """An answer: of events the text they spell, for words are cut anywhere between them."""
    left = iter(pieces)
    begun = b""
    while len(begun.lstrip()) < len(b"event:") and (piece := next(left, b"")):
        begun += piece
    if begun.lstrip()[:6].startswith((b"data:", b"event:", b":")):
        return _kept_text(_spelt(chain((begun,), left), chars_max + OVERLAP_CHARS), chars_max)
    most, parts, size = max(SHORT_BYTES, ESCAPED_BYTES * (chars_max + OVERLAP_CHARS)) + 1, [begun], len(begun)
    while size < most and (piece := next(left, b"")):
        parts.append(piece)
        size += len(piece)
    return kept_body(b"".join(parts), chars_max)


class _Keeper:
    """Goes through a value and keeps of it what there is room for."""

    def __init__(self, chars_max: int) -> None:
        self._left = chars_max

    def kept(self, value: Any) -> Any:
        if self._left <= 0:
            return CUT
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return list(self._members(value))
        if isinstance(value, dict):
            return dict(self._pairs(value))
        self._left -= SCALAR_CHARS
        if isinstance(value, int) and INTEGER_FROM <= abs(value) < INTEGER_TO:
            digits = str(value)
            return value if (text := redact(digits).text) == digits else text
        return value

    def _members(self, values: list[Any]) -> Iterator[Any]:
        """Those there is room for: the others are not looked at."""
        self._left -= 1
        for one in values:
            yield self.kept(one)
            if self._left <= 0:
                return

    def _pairs(self, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        self._left -= 1
        for name, one in values.items():
            if self._left <= 0:
                yield CUT, CUT
                return
            shown = self._string(name)
            yield shown, "[secret]" if isinstance(one, str) and is_secret_name(name) else self.kept(one)

    def _string(self, text: str) -> str:
        kept = _kept_text(text, max(0, self._left))
        self._left -= len(kept) + 1
        return kept


def _kept_text(text: str, chars_max: int) -> str:
    if len(text) <= chars_max:
        return redact(text).text
    redacted = redact(text[: chars_max + OVERLAP_CHARS]).text
    is_halved = len(text) > chars_max + OVERLAP_CHARS
    return (redacted[:-OVERLAP_CHARS] if is_halved else redacted)[:chars_max] + CUT


def _spelt(pieces: Iterable[bytes], chars_max: int) -> str:
    """The text of each choice, one after the other, until there is enough. Events of another shape are counted, not
    kept: what they spell together could not be redacted.
    """
    choices: dict[int, list[str]] = {}
    others = chars = 0
    for line in _lines(pieces):
        if chars > chars_max:
            break
        data = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or data == b"[DONE]":
            continue
        try:
            event = _events.decode(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            others += 1
            continue
        for choice in event.choices:
            words = list(_words(choice))
            chars += sum(map(len, words))
            choices.setdefault(choice.index, []).extend(words)
        others += not event.choices
    spelt = ["".join(choices[index]) for index in sorted(choices)]
    return "\n".join([*spelt, f"[{others} other events]"] if others else spelt)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Lines as they come; one that is too long for an event is no JSON from its middle on."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        rest = rest[:LINE_BYTES_MAX]
    yield rest


def _words(choice: _Choice) -> Iterable[str]:
    if choice.text:
        yield choice.text
    if choice.delta is None:
        return
    for text in (choice.delta.reasoning_content, choice.delta.content, choice.delta.refusal):
        if text:
            yield text
    for call in choice.delta.tool_calls or ():
        if call.function is not None:
            yield from filter(None, (call.function.name, call.function.arguments))
