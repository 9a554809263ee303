"""Certificates that we show: to clients at our door, and to engines that ask for one."""

from datetime import UTC, datetime
from math import inf
from typing import Final

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

ENDING_DAYS: Final = 14
DAY_S: Final = 86400
ENDS: Final = "min by (setting) (heterodyne_certificate_expires_timestamp_seconds)"


def _judge_ending(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return _ending(signals, 0, ENDING_DAYS * DAY_S, "is over on")


def _judge_over(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return _ending(signals, -inf, 0, "was over on")


def _ending(signals: Signals, more_than_s: float, up_to_s: float, words: str) -> tuple[AlertMatch, ...] | None:
    """Those that end so long from now."""
    if signals.certificates is None:
        return None
    return tuple(
        AlertMatch(subject=one.setting, detail=f"It {words} {datetime.fromtimestamp(one.ends_at, UTC):%Y-%m-%d}.")
        for one in signals.certificates
        if one.ends_at is not None and more_than_s < one.ends_at - signals.at <= up_to_s
    )


ALERTS = (
    Alert(
        name="certificate_ending",
        severity=Severity.TICKET,
        hold_s=0,
        summary="The certificate of {subject} is soon over.",
        section="certificates",
        labels=("setting",),
        expression=lambda _: f"({ENDS} - time() < {ENDING_DAYS * DAY_S}) and ({ENDS} > time())",
        judge=_judge_ending,
    ),
    Alert(
        name="certificate_over",
        severity=Severity.PAGE,
        hold_s=0,
        summary="The certificate of {subject} is over.",
        section="certificates",
        labels=("setting",),
        expression=lambda _: f"{ENDS} <= time()",
        judge=_judge_over,
    ),
)
