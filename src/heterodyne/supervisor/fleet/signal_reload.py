"""Reloads that a signal asks for, audited as those of the admin API are."""

import asyncio

from heterodyne.console.fleet.audited_changes import FleetChanges
from heterodyne.console.fleet.forms import ReloadOrder
from heterodyne.domain.errors import HeterodyneError
from heterodyne.telemetry import log

SIGNAL = "signal SIGHUP"  # who reloads without the admin API

_log = log.get("assembly")


class SignalReload:
    """One per supervisor. Its outcome is in the log: a signal has no answer."""

    def __init__(self, changes: FleetChanges) -> None:
        self._changes = changes
        self._is_wanted = asyncio.Event()

    def request(self) -> None:
        """Reload soon; several signals meanwhile are one."""
        self._is_wanted.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            try:
                await self._changes.reload(ReloadOrder(), SIGNAL)
            except HeterodyneError as error:
                _log.warning("serving_by_the_old_settings", error=error.message)
            except Exception as error:  # noqa: BLE001  # the root of a reload: our mistake must not end what serves
                _log.error("change_failed", change="reload", exc_info=error)
