"""Tells and counts what becomes of a port's certificate."""

from typing import Any

from heterodyne.telemetry import metrics
from heterodyne.telemetry.trouble import Trouble


class ToldNews:
    """Of the port whose certificate a setting names."""

    def __init__(self, log: Any, setting: str) -> None:
        self._log = log
        self._setting = setting
        self._trouble = Trouble(log, "certificate_unreadable", setting=setting)

    def refused(self, reason: str) -> None:
        """A handshake failed."""
        metrics.handshake_failures.add((reason,))

    def taken(self, file: str) -> None:
        """Newer files hold."""
        self._trouble.worked()
        self._log.info("certificate_taken", setting=self._setting, file=file)

    def unfit(self, error: OSError) -> None:
        """Newer files cannot be taken."""
        metrics.certificate_failures.add((self._setting,))
        self._trouble.failed(error)
