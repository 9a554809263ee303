"""A prompt that a replica computes for another, as its health and its limits see it."""

import asyncio
from collections.abc import Callable
from typing import final

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import ReplicaId
from heterodyne.gateway.kv.kv_failure import KvOutcome, failure_of
from heterodyne.routing.health.outcome import CANCELLED, SUCCESS, Outcome
from heterodyne.routing.health.replica_health import ReplicaHealth


@final
class PrefillWork:
    """A prefill counts on its replica as any attempt does."""

    def __init__(
        self, limit: ConcurrencyLimit, health: ReplicaHealth, replica: ReplicaId, clock: Callable[[], float]
    ) -> None:
        self._limit, self._health, self._replica, self._clock = limit, health, replica, clock
        self._trial = 0

    def __enter__(self) -> None:
        self._trial = self._health.on_start(self._clock(), 0)
        self._limit.occupy(self._replica)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None:
            outcome = SUCCESS
        elif isinstance(error, EngineError):
            outcome = Outcome.CONNECT_FAILED if failure_of(error).outcome is KvOutcome.UNREACHABLE else Outcome.BROKE
        else:
            outcome = CANCELLED
        self._limit.vacate(self._replica)
        self._health.on_end(outcome, self._clock(), self._trial)

    def done(self, task: "asyncio.Task[None]") -> None:
        """Of a prefill that goes on by itself."""
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self.__exit__(None if error is None else type(error), error, None)
