"""Words and phrases that somebody does not want to see: banned topics, code names, canaries of a system prompt."""

import re
from collections.abc import Sequence
from typing import Final

from heterodyne.safety.finding import Finding, Settled

RULE: Final = "banned_word"
SPACES: Final = re.compile(r"\s+")


class WordFinder:
    """Finds phrases in any case, with any white space between their words. One for a policy."""

    def __init__(self, phrases: Sequence[str]) -> None:
        wanted = sorted({" ".join(phrase.split()).lower() for phrase in phrases if phrase.strip()}, key=len)
        self._first = frozenset(phrase[0] for phrase in wanted)
        self._prefixes = frozenset(phrase[:end] for phrase in wanted for end in range(1, len(phrase) + 1))
        self._longest = len(wanted[-1]) if wanted else 0
        # The longest first, so that a phrase is not cut by a shorter one in it.
        spelt = (r"\s+".join(re.escape(word) for word in phrase.split(" ")) for phrase in reversed(wanted))
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(spelt)})(?!\w)", re.IGNORECASE) if wanted else None

    def find(self, text: str) -> list[Finding]:
        """Every place of a phrase, in order; no two overlap."""
        if self._pattern is None:
            return []
        return [Finding(start=match.start(), end=match.end(), rule=RULE) for match in self._pattern.finditer(text)]

    def settle(self, text: str) -> Settled:
        """What of a text that goes on can be judged."""
        judged = self._open_from(text)
        first = None if self._pattern is None else self._pattern.search(text)
        return Settled(judged if first is None else min(first.start(), judged), judged)

    def _open_from(self, text: str) -> int:
        """Where a phrase may have begun that has not ended; the text's length when nowhere."""
        tail = text[-2 * self._longest - 2 :].lower()
        before = len(text) - len(tail)
        for start, character in enumerate(tail):
            if character not in self._first or (start and tail[start - 1].isalnum()):
                continue
            # Where the phrase is complete, the next character tells whether it ends there.
            if SPACES.sub(" ", tail[start:]).rstrip(" ") in self._prefixes:
                return before + start
        return len(text)
