"""A notice as the bytes that a webhook is sent."""

import hashlib

import msgspec
from msgspec import Struct

from heterodyne.alerts.alert import Severity
from heterodyne.alerts.evaluator import Notice, Phase
from heterodyne.alerts.webhook import WebhookFormat

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class WebhookMessage(Struct, frozen=True, kw_only=True):
    """The generic form. `id` is the same when the same notice is sent again, so that a receiver recognises it."""

    id: str
    phase: Phase
    name: str
    severity: Severity
    subject: str
    summary: str
    guide: str
    since_at: float
    at: float
    gateway: str  # the machine that says so


class _Text(Struct, frozen=True):
    text: str


def body(notice: Notice, format: WebhookFormat, gateway: str) -> bytes:
    """The JSON that is posted."""
    if format is WebhookFormat.SLACK:
        return msgspec.json.encode(_Text(_line(notice, gateway).translate(_ESCAPES)))
    return msgspec.json.encode(
        WebhookMessage(
            id=_id(notice),
            phase=notice.phase,
            name=notice.name,
            severity=notice.severity,
            subject=notice.subject,
            summary=notice.summary,
            guide=notice.guide,
            since_at=notice.since_at,
            at=notice.at,
            gateway=gateway,
        )
    )


def _line(notice: Notice, gateway: str) -> str:
    if notice.phase is Phase.RESOLVED:
        return f"resolved: {notice.name} ({gateway}): {notice.summary}"
    return f"{notice.severity}: {notice.name} ({gateway}): {notice.summary} See {notice.guide}"


def _id(notice: Notice) -> str:
    return hashlib.sha256(repr(notice.key).encode()).hexdigest()[:16]
