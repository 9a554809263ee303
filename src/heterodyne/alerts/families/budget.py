"""Dollars that an organisation or project may spend, and has."""

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

DOLLARS = "usd_per_"  # how the names of such limits begin
SECTION = "budgets"
USED = f'max by (level, limit) (heterodyne_admission_limit_used_ratio{{limit=~"{DOLLARS}.*"}})'


def _low_expression(settings: AlertSettings) -> str:
    return f"{USED} > {settings.budget_max:g} < 1"


def _judge_low(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return _between(signals, settings.budget_max, 1.0)


def _spent_expression(_: AlertSettings) -> str:
    return f"{USED} >= 1"


def _judge_spent(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return _between(signals, 1.0, float("inf"))


def _between(signals: Signals, low: float, high: float) -> tuple[AlertMatch, ...] | None:
    """From what is all but all of a limit, up to all of it; and from there on."""
    if signals.limits is None:
        return None
    return tuple(
        AlertMatch(subject=f"{one.level} {one.limit}", detail=f"{one.ratio:.0%} used.")
        for one in signals.limits
        if one.limit.startswith(DOLLARS) and (low < one.ratio or low == one.ratio == 1.0) and one.ratio < high
    )


ALERTS = (
    Alert(
        name="budget_low",
        severity=Severity.TICKET,
        hold_s=60,
        summary="The budget {subject} is nearly spent.",
        section=SECTION,
        labels=("level", "limit"),
        expression=_low_expression,
        judge=_judge_low,
    ),
    Alert(
        name="budget_spent",
        severity=Severity.PAGE,
        hold_s=60,
        summary="The budget {subject} is spent, and requests are refused.",
        section=SECTION,
        labels=("level", "limit"),
        expression=_spent_expression,
        judge=_judge_spent,
    ),
)
