"""Structured events on stderr: text for people, JSON lines for machines."""

import logging
import sys
from typing import Any

import structlog

from heterodyne.telemetry.settings import TelemetrySettings

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(settings: TelemetrySettings, **context: str) -> None:
    """Set up logging for this process; `context` is added to every event."""
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if is_text(settings)
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if is_text(settings) else "iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[settings.log_level]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(**context)


def is_text(settings: TelemetrySettings) -> bool:
    """Whether a person reads the log."""
    return settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())


def get(room: str) -> Any:
    """A logger whose events carry the name of the room they come from."""
    return structlog.get_logger(room=room)
