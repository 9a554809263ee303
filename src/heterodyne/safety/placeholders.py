"""Words that stand for what was found in a text, and the way back. Equal values of one rule have equal words."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
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

    def hide(self, text: str) -> str:
        """The way there: every value of a text replaced by what stands for it."""
        for word, value in self.values.items():
            text = text.replace(value, word)
        return text

    @property
    def escaped(self) -> "Placeholders":
        """The same for texts that are JSON, in which a value with a quote must not end a string."""
        return Placeholders({word: _escaped(value) for word, value in self.values.items()})

    def _value_of(self, match: re.Match[str]) -> str:
        return self.values.get(match[0], match[0])


class Masker:
    """Gives out placeholders for the texts of one request, or of one answer."""

    def __init__(self, written: Iterable[str] = ()) -> None:
        """`written` are words like placeholders that mean something already; they are not given out."""
        self._written = set(written)
        self._words: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._names: dict[str, str] = {}  # of rules, in words like placeholders

    def read(self, text: str) -> None:
        """Words of a text that look like placeholders are not given out."""
        if "<" in text:
            self._written.update(WORD.findall(text))

    def word(self, rule: str, value: str) -> str:
        """What stands for a value."""
        name = self._names.get(rule)
        if name is None:
            name = self._names[rule] = UNSAFE.sub("_", rule.upper()).strip("_0123456789") or "FOUND"
        word = self._words.get((name, value))
        while word is None:
            self._counts[name] = self._counts.get(name, 0) + 1
            word = f"<{name}_{self._counts[name]}>"
            if word in self._written:
                word = None
        self._words[name, value] = word
        return word

    @property
    def values(self) -> dict[str, str]:
        """What each stands for."""
        return {word: value for (_, value), word in self._words.items()}


def mask(text: str, findings: Iterable[Finding]) -> tuple[str, Placeholders]:
    """The text with placeholders for what was found. Findings that overlap one before them are left out."""
    masker = Masker()
    masker.read(text)
    parts: list[str] = []
    at = 0
    for finding in sorted(findings):
        if finding.start < at or finding.end <= finding.start or finding.end > len(text):
            continue
        parts += (text[at : finding.start], masker.word(finding.rule, text[finding.start : finding.end]))
        at = finding.end
    return "".join((*parts, text[at:])), Placeholders(masker.values)


def _escaped(value: str) -> str:
    return msgspec.json.encode(value).decode()[1:-1]


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
