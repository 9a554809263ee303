"""Whether an answer tells the system prompt of its own request: twelve words of it in a row, however they are spaced.

A paraphrase, a translation or an encoding is not found; a canary in a `words` policy finds whatever repeats that.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from heterodyne.safety.finding import Finding, Settled

RULE: Final = "system_prompt"
RUN: Final = 12  # words; fewer are said by chance, or by right: who one is, and what for
RUNS_MAX: Final = 4096  # of one system prompt
ORDERS: Final = frozenset({"system", "developer"})  # whose words are not to be told
WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
PROMPTS_MAX: Final = 64  # that are remembered; most requests share a few


@lru_cache(maxsize=PROMPTS_MAX)
def runs_of(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Every run of words in these texts, in small letters; none where they are shorter."""
    found: dict[str, None] = {}
    for text in texts:
        words = [match[0].lower() for match in WORD.finditer(text)]
        for start in range(len(words) - RUN + 1):
            if len(found) >= RUNS_MAX:
                return tuple(found)
            found[" ".join(words[start : start + RUN])] = None
    return tuple(found)


class LeakFinder:
    """Finds any of the runs in a text. One for a system prompt."""

    def __init__(self, runs: Sequence[str]) -> None:
        self._runs = frozenset(runs)
        self._sorted = sorted(self._runs)

    def find(self, text: str) -> list[Finding]:
        """Every place where so many words of it are told, in order; no two overlap."""
        if not self._runs:
            return []
        words = list(WORD.finditer(text))
        said = [match[0].lower() for match in words]
        findings: list[Finding] = []
        start = end = -1  # of the words that are told, once some are
        for at in range(len(said) - RUN + 1):
            if " ".join(said[at : at + RUN]) not in self._runs:
                continue
            if start >= 0 and at > end:
                findings.append(_finding(words, start, end))
                start = -1
            if start < 0:
                start = at
            end = at + RUN
        if start >= 0:
            findings.append(_finding(words, start, end))
        return findings

    def settle(self, text: str) -> Settled:
        """What of a text that goes on can be judged: not the words at its end that a run may begin with."""
        if not self._runs:
            return Settled(len(text), len(text))
        open_from = self._open_from(text)
        first = next(iter(self.find(text)), None)
        return Settled(open_from if first is None else min(first.start, open_from), open_from)

    def _open_from(self, text: str) -> int:
        tail = text[-1024:]
        words = list(WORD.finditer(tail))[-RUN:]
        if not words:
            return len(text)
        is_open = words[-1].end() == len(tail)  # the last may be a part of a longer word
        said = [match[0].lower() for match in words]
        for at, word in enumerate(words):
            begun = " ".join(said[at:])
            if len(said) - at == RUN and not is_open:
                continue  # a whole run, which is found or is none
            if self._begins(begun if is_open else f"{begun} "):
                return len(text) - len(tail) + word.start()
        return len(text)

    def _begins(self, begun: str) -> bool:
        place = bisect_left(self._sorted, begun)
        return place < len(self._sorted) and self._sorted[place].startswith(begun)


def _finding(words: "list[re.Match[str]]", start: int, end: int) -> Finding:
    return Finding(start=words[start].start(), end=words[end - 1].end(), rule=RULE)
