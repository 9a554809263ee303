"""Rules look at the texts of a document, all of them together: one look costs far less than one for each text."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from heterodyne.domain.guard_verdict import Direction, GuardVerdict
from heterodyne.safety.finding import Finding
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
    for skipped in dict.fromkeys(rule.skipped_roles for rule in rules):
        seen = [unit for unit in units if unit.role not in skipped] if skipped else units
        if seen:
            found += _look([rule for rule in rules if rule.skipped_roles is skipped], seen)
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


def _look(rules: list[GuardRule], units: Sequence[TextUnit]) -> Iterator[Found]:
    texts, owners = [unit.text for unit in units], list(units)
    for unit in units:
        if "\\u00" in (text := unit.text) and SPELT.search(text) is not None:
            texts.append(SPELT.sub(_letter, text))
            owners.append(unit)
    joined = BETWEEN.join(texts) if len(texts) > 1 else texts[0]
    starts, at = [], 0
    for text in texts:
        starts.append(at)
        at += len(text) + len(BETWEEN)
    for rule in rules:
        for finding in rule.look(joined):
            if finding.score < rule.settings.score_min:
                continue
            for number, start, end in _touched(finding, texts, starts):
                unit = owners[number]
                # Of a text as it is meant nobody knows where that is in it as it is written.
                span = (start, end) if number < len(units) else (0, len(unit.text))
                yield Found(rule, unit, Finding(start=span[0], end=span[1], rule=finding.rule, score=finding.score))


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
