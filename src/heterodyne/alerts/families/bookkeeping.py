"""Usage that does not get into the store, and entries that do not get into the audit log."""

from heterodyne.alerts.alert import GATEWAY, Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals
from heterodyne.domain.counted import times

FILLED_MAX = 0.5  # of the spool: workers refuse at all of it
BOOKS = "books"
AUDIT = "audit-log"


def _judge_books_stalled(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return None if signals.books is None else _one(signals.books.problem is not None, "")


def _judge_books_filling(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.books is None:
        return None
    return _one(signals.books.filled > FILLED_MAX, f"{signals.books.filled:.0%} of it is full.")


def _judge_books_damaged(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return None if signals.books is None else _one(signals.books.damaged > 0, f"{signals.books.damaged} of them.")


def _judge_audit_stalled(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return None if signals.audit is None else _one(signals.audit.problem is not None, "")


def _judge_audit_failing(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    return None if signals.audit is None else _one(signals.audit.failures > 0, f"{times(signals.audit.failures)}.")


def _one(is_so: bool, detail: str) -> tuple[AlertMatch, ...]:
    return (AlertMatch(subject=GATEWAY, detail=detail),) if is_so else ()


ALERTS = (
    Alert(
        name="books_stalled",
        severity=Severity.PAGE,
        hold_s=120,
        summary="The store takes no usage.",
        section=BOOKS,
        labels=(),
        expression=lambda _: "max(heterodyne_books_stalled) > 0",
        judge=_judge_books_stalled,
    ),
    Alert(
        name="books_filling",
        severity=Severity.PAGE,
        hold_s=60,
        summary="The spool of usage fills; when it is full, requests are refused.",
        section=BOOKS,
        labels=(),
        expression=lambda _: f"max(heterodyne_books_backlog_bytes / heterodyne_books_backlog_bytes_max) > {FILLED_MAX}",
        judge=_judge_books_filling,
    ),
    Alert(
        name="books_damaged",
        severity=Severity.TICKET,
        hold_s=0,
        summary="Spooled usage could not be read, and was set aside.",
        section=BOOKS,
        labels=(),
        expression=lambda _: "sum(increase(heterodyne_books_damaged_segments_total[30m])) > 0",
        judge=_judge_books_damaged,
    ),
    Alert(
        name="audit_stalled",
        severity=Severity.PAGE,
        hold_s=60,
        summary="The audit log takes no entries.",
        section=AUDIT,
        labels=(),
        expression=lambda _: "max(heterodyne_audit_stalled) > 0",
        judge=_judge_audit_stalled,
    ),
    Alert(
        name="audit_failing",
        severity=Severity.TICKET,
        hold_s=0,
        summary="Entries could not be added to the audit log, or an anchor not be put, in the last half hour.",
        section=AUDIT,
        labels=(),
        expression=lambda _: "sum(increase(heterodyne_audit_failures_total[30m])) > 0",
        judge=_judge_audit_failing,
    ),
)
