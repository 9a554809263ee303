"""Keeps what is pending and what fires, one state for each alert and subject, and says what changed. No clock here."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.catalogue import ALERTS
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

STATES_MAX = 1000
CLEAR_S = 60.0  # how long what fires must be false before it is over, so that it does not come and go


class Phase(StrEnum):
    """What a notice is about: it fires, or it is over."""

    FIRING = "firing"
    RESOLVED = "resolved"


class Notice(Struct, frozen=True, kw_only=True):
    """One alert about one subject, as people get it."""

    phase: Phase
    name: str
    severity: Severity
    subject: str
    summary: str
    guide: str
    since_at: float  # seconds since the epoch, when it became true
    at: float  # when it began to fire, or was over

    @property
    def key(self) -> tuple[str, str, float, Phase]:
        """What makes it the same one when it is sent again."""
        return self.name, self.subject, self.since_at, self.phase


class _State(Struct, frozen=True, kw_only=True):
    alert: Alert
    subject: str
    summary: str
    since_at: float
    seen_at: float
    fired_at: float | None  # None: pending


class AlertEvaluator:
    """One per supervisor."""

    def __init__(self, alerts: Sequence[Alert] = ALERTS, *, states_max: int = STATES_MAX) -> None:
        self._alerts = alerts
        self._states_max = states_max
        self._states: dict[tuple[str, str], _State] = {}
        self.left_out = 0  # findings for which there was no room, in all

    def evaluate(self, signals: Signals, settings: AlertSettings) -> tuple[Notice, ...]:
        """Judge the signals; what began to fire and what is over, in the order of the catalogue."""
        changed: list[Notice] = []
        for alert in self._alerts:
            findings = alert.judge(signals, settings)
            if findings is None:
                continue  # what cannot be judged stays as it is
            for finding in findings:
                changed += self._found(alert, finding, signals.at)
            changed += self._not_found(alert, {finding.subject for finding in findings}, signals.at)
        return tuple(changed)

    def firing(self) -> tuple[Notice, ...]:
        """What fires now, pages first, the oldest first among equals."""
        fired = (_notice(one, Phase.FIRING, one.fired_at) for one in self._states.values() if one.fired_at is not None)
        return tuple(sorted(fired, key=lambda one: (one.severity is not Severity.PAGE, one.since_at, one.name)))

    def _found(self, alert: Alert, finding: AlertMatch, at: float) -> list[Notice]:
        key = alert.name, finding.subject
        known = self._states.get(key)
        if known is None:
            if len(self._states) >= self._states_max:
                self.left_out += 1
                return []
            known = _State(alert=alert, subject=finding.subject, summary="", since_at=at, seen_at=at, fired_at=None)
        fires_now = known.fired_at is None and at - known.since_at >= alert.hold_s
        state = self._states[key] = replace(
            known,
            summary=alert.sentence(finding),
            seen_at=at,
            fired_at=at if fires_now else known.fired_at,
        )
        return [_notice(state, Phase.FIRING, at)] if fires_now else []

    def _not_found(self, alert: Alert, found: set[str], at: float) -> list[Notice]:
        over = [
            (key, one)
            for key, one in self._states.items()
            if one.alert is alert and one.subject not in found and (one.fired_at is None or at - one.seen_at >= CLEAR_S)
        ]
        for key, _ in over:
            del self._states[key]
        return [_notice(one, Phase.RESOLVED, at) for _, one in over if one.fired_at is not None]


def _notice(state: _State, phase: Phase, at: float) -> Notice:
    return Notice(
        phase=phase,
        name=state.alert.name,
        severity=state.alert.severity,
        subject=state.subject,
        summary=state.summary,
        guide=state.alert.guide,
        since_at=state.since_at,
        at=at,
    )
