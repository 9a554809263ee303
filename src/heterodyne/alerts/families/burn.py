"""How fast an error budget burns: of requests that fail through the fleet, and of SLOs that are not kept.

Each alert wants both a long window, so that a blip is no alert, and a short one, so that it ends soon after its cause.
"""

from collections.abc import Callable
from typing import NamedTuple

from heterodyne.alerts.alert import GATEWAY, Alert, AlertMatch, Judge, Severity
from heterodyne.alerts.recordings import RATE_INTERVAL_S
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import AlertWindow, Signals, WindowCounts

BAD_MIN = 5  # in the long window: of a model that is hardly asked, one failure is no trend


class Burn(NamedTuple):
    """A pace at which the budget may be spent, and over which windows it is seen."""

    word: str
    factor: float
    long: AlertWindow
    short: AlertWindow
    severity: Severity


BURNS = (
    Burn("fast", 14.4, AlertWindow.H1, AlertWindow.M5, Severity.PAGE),  # 2 % of a month's budget in an hour
    Burn("steady", 6.0, AlertWindow.H6, AlertWindow.M30, Severity.PAGE),  # 5 % in six hours
    Burn("slow", 1.0, AlertWindow.D3, AlertWindow.H6, Severity.TICKET),  # 10 % in three days
)


class BurnKind(NamedTuple):
    """One of the two objectives of every model."""

    name: str
    recorded: str  # the part of the recording rules' names that says what is counted
    summary: str
    section: str
    counted: Callable[[WindowCounts], tuple[int, int]]  # the bad ones, and all


BURN_KINDS = (
    BurnKind(
        "failed_requests",
        "faults",
        "Requests for {{subject}} fail {pace} the SLO allows.",
        "failed-requests",
        lambda tally: (tally.faults, tally.requests),
    ),
    BurnKind(
        "broken_promises",
        "broken_promises",
        "Promises of latency for {{subject}} are broken {pace} the SLO allows.",
        "broken-promises",
        lambda tally: (tally.broken, tally.promised),
    ),
)


def threshold(burn: Burn, settings: AlertSettings) -> float:
    """The share of bad ones at which the budget burns at this pace."""
    return round(burn.factor * (1 - settings.slo_target), 9)


def _alert(kind: BurnKind, burn: Burn) -> Alert:
    return Alert(
        name=f"{kind.name}_burn_{burn.word}",
        severity=burn.severity,
        hold_s=0,  # the long window is the hold
        summary=kind.summary.format(pace=f"{burn.factor:g} times as fast as" if burn.factor > 1 else "faster than"),
        section=kind.section,
        labels=("model",),
        expression=lambda settings: _expression(kind, burn, settings),
        judge=_judge(kind, burn),
    )


def _expression(kind: BurnKind, burn: Burn, settings: AlertSettings) -> str:
    limit = f"{threshold(burn, settings):g}"
    ratio = f"heterodyne:{kind.recorded}:ratio"
    count = f"sum_over_time(heterodyne:{kind.recorded}:rate5m[{burn.long}]) * {RATE_INTERVAL_S}"
    return f"{ratio}_{burn.long} > {limit} and {ratio}_{burn.short} > {limit} and {count} >= {BAD_MIN}"


def _judge(kind: BurnKind, burn: Burn) -> Judge:
    def judge(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
        if signals.models is None:
            return None
        limit = threshold(burn, settings)
        found = []
        for model in signals.models:
            long, short = (
                kind.counted(model.tallies.get(window, WindowCounts())) for window in (burn.long, burn.short)
            )
            if long[0] >= BAD_MIN and _share(long) > limit and _share(short) > limit:
                detail = f"{long[0]} of {long[1]} in {burn.long}, {short[0]} of {short[1]} in {burn.short}."
                found.append(AlertMatch(subject=model.model or GATEWAY, detail=detail))
        return tuple(found)

    return judge


def _share(counted: tuple[int, int]) -> float:
    bad, all_of_them = counted
    return bad / all_of_them if all_of_them else 0.0


ALERTS = tuple(_alert(kind, burn) for kind in BURN_KINDS for burn in BURNS)
