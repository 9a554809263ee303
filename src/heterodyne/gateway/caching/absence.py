"""A store that several gateways share and that may be away: for a second after a failure nobody waits for it."""

from collections.abc import Callable
from typing import Final

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.telemetry import log
from heterodyne.telemetry.trouble import Trouble

PAUSE_S: Final = 1.0

_log = log.get("gateway")


class StoreAbsence:
    """One per store and worker."""

    def __init__(self, event: str, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until_s = 0.0
        self._trouble = Trouble(_log, event, then="replicas are asked")

    @property
    def is_now(self) -> bool:
        """Whether it is left alone."""
        return self._clock() < self._until_s

    def failed(self, error: StoreUnavailable) -> None:
        """It did not answer."""
        self._until_s = self._clock() + PAUSE_S
        self._trouble.failed(error)

    def worked(self) -> None:
        """It did."""
        self._trouble.worked()
