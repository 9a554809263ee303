"""A prompt that a replica computes for another, as its health and its limits see it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, final

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import ReplicaId
from heterodyne.gateway.kv.kv_failure import KvFailure, late_prefill, not_computed
from heterodyne.routing.health.outcome import CANCELLED, SUCCESS
from heterodyne.routing.health.replica_health import ReplicaHealth

T = TypeVar("T")


@final
class PrefillWork:
    """A prefill counts on its replica as any attempt does: what it failed by says what the replica has shown."""

    def __init__(
        self, limit: ConcurrencyLimit, health: ReplicaHealth, replica: ReplicaId, clock: Callable[[], float]
    ) -> None:
        self._limit, self._health, self._replica, self._clock = limit, health, replica, clock
        self._trial = 0

    def __enter__(self) -> None:
        self._trial = self._health.on_start(self._clock(), 0)
        self._limit.occupy(self._replica)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        outcome = SUCCESS if error is None else CANCELLED
        if isinstance(error, KvFailure) and error.shown is not None:
            outcome = error.shown
        self._limit.vacate(self._replica)
        self._health.on_end(outcome, self._clock(), self._trial)


async def computed(asked: Awaitable[T], bound_s: float) -> T:
    """What a prefill replica has answered; its failing, or not answering in time, is its own doing."""
    try:
        async with deadline(bound_s):
            return await asked
    except EngineError as error:
        raise not_computed(error) from error
    except TimeoutError as error:
        raise late_prefill(bound_s) from error
