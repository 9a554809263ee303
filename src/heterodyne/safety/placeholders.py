"""Words that stand for what was found in a text, and the way back. Equal values of one rule have equal words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from heterodyne.safety.finding import Finding

WORD: Final = re.compile(r"<[A-Z][A-Z0-9_]*_[0-9]+>")
UNSAFE: Final = re.compile(r"[^A-Z0-9]+")


class Placeholders(Struct, frozen=True):
    """What each placeholder stands for. One for a request; nothing of it is written down."""

    values: Mapping[str, str]  # by placeholder, such as "<EMAIL_1>"

    def restore(self, text: str) -> str:
        """The text with every placeholder replaced by what it stands for."""
        if not self.values or "<" not in text:
            return text
        return WORD.sub(self._value_of, text)

    def _value_of(self, match: re.Match[str]) -> str:
        return self.values.get(match[0], match[0])


def mask(text: str, findings: Iterable[Finding]) -> tuple[str, Placeholders]:
    """The text with placeholders for what was found. Findings that overlap one before them are left out."""
    masked, placeholders = mask_all([(text, findings)])
    return masked[0], placeholders


def mask_all(texts: Sequence[tuple[str, Iterable[Finding]]]) -> tuple[list[str], Placeholders]:
    """The same for texts that go together, such as the messages of a request: they share their placeholders."""
    # Words of the texts themselves that look like placeholders are not given out.
    written = {word for text, _ in texts if "<" in text for word in WORD.findall(text)}
    words: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = {}
    masked: list[str] = []
    for text, findings in texts:
        parts: list[str] = []
        at = 0
        for finding in sorted(findings):
            if finding.start < at or finding.end <= finding.start or finding.end > len(text):
                continue
            value = text[finding.start : finding.end]
            name = _name_of(finding.rule)
            word = words.get((name, value))
            if word is None:
                word = words[name, value] = _new_word(name, counts, written)
            parts += (text[at : finding.start], word)
            at = finding.end
        masked.append("".join((*parts, text[at:])) if parts else text)
    return masked, Placeholders({word: value for (_, value), word in words.items()}) if words else NOTHING


def _name_of(rule: str) -> str:
    return UNSAFE.sub("_", rule.upper()).strip("_0123456789") or "FOUND"


def _new_word(name: str, counts: dict[str, int], written: set[str]) -> str:
    while True:
        counts[name] = counts.get(name, 0) + 1
        word = f"<{name}_{counts[name]}>"
        if word not in written:
            return word


NOTHING: Final = Placeholders({})


class StreamRestorer:
    """Puts values back in an answer that comes in chunks. One for a stream.

    A chunk may end within a placeholder, so what could begin one is held back: from a `<` on, and never more
    characters than the longest placeholder has.
    """

    def __init__(self, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._longest = max(map(len, placeholders.values), default=0)
        self._held = ""

    def feed(self, chunk: str) -> str:
        """What can be sent now."""
        if not self._longest:
            return chunk
        text = self._held + chunk
        cut = self._open_from(text)
        self._held = text[cut:]
        return self._placeholders.restore(text[:cut])

    def close(self) -> str:
        """What was held back, when the answer has ended."""
        text, self._held = self._held, ""
        return self._placeholders.restore(text)

    def _open_from(self, text: str) -> int:
        """Where a placeholder may have begun that has not ended; the text's length when nowhere."""
        at = text.rfind("<", max(0, len(text) - self._longest + 1))
        if at < 0 or ">" in text[at:]:
            return len(text)
        begun = text[at:]
        return at if any(word.startswith(begun) for word in self._placeholders.values) else len(text)
