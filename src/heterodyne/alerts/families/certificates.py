"""Certificates that we show: to clients at our door, and to engines that ask for one."""

from datetime import UTC, datetime
from typing import Final

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import CertificateSignals, Signals

ENDING_DAYS: Final = 14
DAY_S: Final = 86400
ENDS: Final = "min by (setting) (heterodyne_certificate_expires_timestamp_seconds)"


def _judge_ending(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.certificates is None:
        return None
    return tuple(
        AlertMatch(subject=one.setting, detail=f"It is over on {_day(one)}.")
        for one in signals.certificates
        if one.ends_at is not None and 0 < one.ends_at - signals.at < ENDING_DAYS * DAY_S
    )


def _judge_over(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.certificates is None:
        return None
    return tuple(
        AlertMatch(subject=one.setting, detail=f"It was over on {_day(one)}.")
        for one in signals.certificates
        if one.ends_at is not None and one.ends_at <= signals.at
    )


def _day(one: CertificateSignals) -> str:
    return datetime.fromtimestamp(one.ends_at or 0.0, UTC).strftime("%Y-%m-%d")


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
