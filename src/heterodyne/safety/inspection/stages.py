"""Which further looks at a stream a request's policies ask for."""

from collections.abc import Callable

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.inspection.held_calls import HeldCalls
from heterodyne.safety.inspection.stream_limit import StreamLimit
from heterodyne.safety.policy import GuardPlan, GuardRule
from heterodyne.safety.structure.expected import read_expected


def staged(
    words: StreamGuard, plan: GuardPlan, note: Callable[[GuardVerdict], None], *, choices: int, sent: str
) -> StreamGuard:
    """The same stream past rules that hold its calls back, or end it where it is long enough."""
    stage = words
    limits = [rule for rule in _blocking(plan) if rule.inspector and rule.inspector.answer_chars_max is not None]
    if limits:
        stage = StreamLimit(stage, limits, note, choices=choices, sent=sent)
    calls = call_rules(plan)
    if calls:
        expected = read_expected(plan.expected) if plan.expected else None
        stage = HeldCalls(stage, calls, note, choices=choices, expected=expected)
    return stage


def call_rules(plan: GuardPlan) -> list[GuardRule]:
    """Those for which the calls of a stream are held back."""
    return [rule for rule in _blocking(plan) if rule.inspector and rule.inspector.calls is not None]


def _blocking(plan: GuardPlan) -> list[GuardRule]:
    return [rule for rule in plan.output if rule.inspector is not None and rule.action == "block"]


def needs_whole(rule: GuardRule, expected: bytes) -> bool:
    """Whether it can judge nothing of an answer before all of it is there."""
    asked = read_expected(expected) if expected else None
    return rule.inspector is not None and rule.inspector.needs_whole(asked)
