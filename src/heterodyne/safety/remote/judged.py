"""What guards elsewhere have found, and what follows for the request or for its answer."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from heterodyne.domain.errors import GuardUnavailable
from heterodyne.domain.guard_verdict import Direction, GuardVerdict
from heterodyne.safety.finding import Finding
from heterodyne.safety.guarded import FINDINGS_MAX, Guarded, unreadable
from heterodyne.safety.look import Found
from heterodyne.safety.policy import GuardRule, rule_of
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.texts import TextUnit

RULE_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}\Z"  # a word that metrics and the console can show


class RemoteFinding(Struct, frozen=True, kw_only=True):
    """One of them."""

    rule: str
    score: float
    where: str = ""  # the path of the text; empty: the guard does not say


class Judged(Struct, frozen=True):
    """What one policy's guard has found."""

    policy: str
    settings: GuardSettings
    findings: tuple[RemoteFinding, ...]

    @property
    def blocks(self) -> bool:
        """Whether something follows for the text."""
        return self.settings.action == "block" and bool(self.findings)


class Looked(NamedTuple):
    """What all guards that were asked together have said."""

    judged: tuple[Judged, ...] = ()
    unread: tuple[GuardRule, ...] = ()  # policies that cannot read a prompt of token ids
    refusal: GuardUnavailable | None = None  # a verdict is missing that nothing passes without

    @property
    def blocks(self) -> bool:
        return any(one.blocks for one in self.judged)


def guarded_by(looked: Looked, direction: Direction) -> Guarded:
    """The outcome, for a text that passes whole or not at all."""
    verdicts = (*map(unreadable, looked.unread), *verdicts_of(looked.judged, direction))
    return Guarded(verdicts=verdicts, blocked=next((one for one in verdicts if one.action == "block"), None))


def verdicts_of(judged: Sequence[Judged], direction: Direction) -> tuple[GuardVerdict, ...]:
    """What is told of it."""
    verdicts = [
        GuardVerdict(
            policy=one.policy,
            guard=one.settings.guard,
            version=rule_of(one.policy, one.settings).version,
            rule=finding.rule,
            action=one.settings.action,
            direction=direction,
            where=finding.where,
            score=round(finding.score, 3),
        )
        for one in judged
        for finding in one.findings
    ]
    return tuple(verdicts[:FINDINGS_MAX])


def found_in(judged: Sequence[Judged], units: Sequence[TextUnit]) -> list[Found]:
    """The texts that the findings are about, each as a whole: of a choice all, and all where no path says which."""
    return [
        Found(rule, unit, Finding(start=0, end=len(unit.text), rule=finding.rule, score=finding.score))
        for one in judged
        if one.blocks
        for rule in (rule_of(one.policy, one.settings),)
        for finding in one.findings
        for unit in _meant(finding.where, units)
    ]


def _meant(where: str, units: Sequence[TextUnit]) -> Iterator[TextUnit]:
    choice = where[: where.find("]") + 1] if where.startswith("choices[") else ""
    is_known = bool(choice) and any(unit.where == where for unit in units)
    for unit in units:
        if not is_known or unit.where.startswith(f"{choice}."):
            yield unit
