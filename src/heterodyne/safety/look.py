"""Rules look at the texts of a document, all of them together: one look costs far less than one for each text."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from heterodyne.domain.guard_verdict import Direction, GuardVerdict
from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import Glance
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.texts import TextUnit

BETWEEN: Final = "\n\x1f\n"  # no finding goes on over it
# Letters that JSON within a text may spell as numbers, which hides a word from whoever does not read that JSON.
SPELT: Final = re.compile(r"\\u00([2-7][0-9a-fA-F])")


class Found(NamedTuple):
    """A finding within one text."""

    rule: GuardRule
    unit: TextUnit
    finding: Finding


def look(rules: Sequence[GuardRule], units: Sequence[TextUnit]) -> list[Found]:
    """What the rules find."""
    found: list[Found] = []
    roles = {unit.role for unit in units}
    seen: dict[frozenset[str], _Joined] = {}  # by the roles that are left out
    for rule in rules:
        skipped = rule.skipped_roles.intersection(roles)
        joined = seen.get(skipped)
        if joined is None:
            left = [unit for unit in units if unit.role not in skipped] if skipped else units
            joined = seen[skipped] = _Joined(left)
        if findings := rule.look_at(joined.glance):
            found += joined.placed(rule, findings)
    return found


def verdict(found: Found, direction: Direction, *, before: int = 0) -> GuardVerdict:
    """What is told of it; `before` are characters of the text that came earlier."""
    rule, finding = found.rule, found.finding
    return GuardVerdict(
        policy=rule.policy,
        guard=rule.settings.guard,
        version=rule.version,
        rule=finding.rule,
        action=rule.action,
        direction=direction,
        where=found.unit.where,
        start=before + finding.start,
        end=before + finding.end,
        score=round(finding.score, 3),
    )


class _Joined:
    """Texts that are looked at as one."""

    __slots__ = ("_owners", "_texts", "_units", "glance")

    def __init__(self, units: Sequence[TextUnit]) -> None:
        self._units = units
        self._texts, self._owners = [unit.text for unit in units], list(units)
        for unit in units:
            if "\\" in (text := unit.text) and SPELT.search(text) is not None:
                self._texts.append(SPELT.sub(_letter, text))
                self._owners.append(unit)
        self.glance = Glance(BETWEEN.join(self._texts))

    def placed(self, rule: GuardRule, findings: Iterable[Finding]) -> Iterator[Found]:
        """The findings that count, each within its text."""
        texts = self._texts
        starts = _starts(texts)
        for finding in findings:
            if finding.score < rule.settings.score_min:
                continue
            for number, start, end in _touched(finding, texts, starts):
                unit = self._owners[number]
                # Of a text as it is meant nobody knows where that is in it as it is written.
                span = (start, end) if number < len(self._units) else (0, len(unit.text))
                yield Found(rule, unit, Finding(start=span[0], end=span[1], rule=finding.rule, score=finding.score))


def _starts(texts: list[str]) -> list[int]:
    starts, at = [], 0
    for text in texts:
        starts.append(at)
        at += len(text) + len(BETWEEN)
    return starts


def _touched(finding: Finding, texts: list[str], starts: list[int]) -> Iterator[tuple[int, int, int]]:
    """The numbers of the texts that a finding is in, and where it is in each."""
    number = bisect_right(starts, finding.start) - 1
    while number < len(texts) and starts[number] < finding.end:
        start = max(0, finding.start - starts[number])
        end = min(len(texts[number]), finding.end - starts[number])
        if start < end:
            yield number, start, end
        number += 1


def _letter(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))
