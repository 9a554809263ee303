"""Guards that cannot look: what they only flag passes unseen, and what they mask or block is refused."""

from heterodyne.alerts.alert import GATEWAY, Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals
from heterodyne.domain.counted import times

FAILURES = "heterodyne_gateway_guard_failures_total"
# A counter that was not there before does not increase: one that has come while its gateway was there counts, too.
APPEARED = (
    f"({FAILURES} > 0 and count_over_time({FAILURES}[30m]) "
    "< on (instance, job) group_left () count_over_time(heterodyne_build_info[30m]))"
)


def _judge_guards_failing(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    failures = signals.guard_failures
    if failures is None:
        return None
    return (AlertMatch(subject=GATEWAY, detail=f"{times(failures)}."),) if failures else ()


ALERTS = (
    Alert(
        name="guards_failing",
        severity=Severity.TICKET,
        hold_s=0,
        summary="Guards could not look at requests or answers in the last half hour.",
        section="guards",
        labels=(),
        expression=lambda _: f"sum(increase({FAILURES}[30m])) > 0 or sum({APPEARED}) > 0",
        judge=_judge_guards_failing,
    ),
)
