"""What guards find in a text."""

from typing import NamedTuple

from msgspec import Struct


class Finding(Struct, frozen=True, kw_only=True, order=True, gc=False):
    """Characters `start` to `end` of a text, what was found there, and how sure the guard is."""

    start: int
    end: int
    rule: str  # a word the console can show, such as "iban"
    score: float = 1.0  # 0 to 1


class RuleFinding(Finding, frozen=True, kw_only=True, gc=False):
    """The same, and the number of the rule that found it."""

    rule_number: int = 0


class Released(Struct, frozen=True):
    """Text that may be sent, and what was found in it; places are counted from the start of this text."""

    text: str
    findings: tuple[Finding, ...] = ()


class Settled(NamedTuple):
    """Two places in a text that goes on."""

    plain: int  # before it there is nothing to find
    judged: int  # before it everything can be judged; behind it something may be growing


def place(finding: Finding) -> tuple[int, int]:
    """What findings are put in order by: to compare all of each takes several times as long."""
    return finding.start, finding.end
