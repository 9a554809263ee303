"""Structured events on stderr: text for people, JSON lines for machines."""

import logging
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any, TextIO, cast

from heterodyne.domain.url_secrets import shown
from heterodyne.telemetry.plain_structlog import structlog
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
            _hide_secrets,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[settings.log_level]),
        # One write for each line: several processes have one log, and where output is not buffered a line of two writes
        # would be cut by another's.
        logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, _Surviving(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(**context)


class _Surviving:
    """A log that cannot be written, on a full disk or a pipe without a reader, ends nothing."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # there is nowhere left to say it
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._file.flush()


def is_text(settings: TelemetrySettings) -> bool:
    """Whether a person reads the log."""
    return settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())


def get(room: str) -> Any:
    """A logger whose events carry the name of the room they come from."""
    return structlog.get_logger(room=room)


def _hide_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Libraries put addresses into their errors, and addresses may have passwords in them."""
    for name, value in event.items():
        if isinstance(value, str | list | tuple | dict):
            event[name] = shown(value)
    return event
