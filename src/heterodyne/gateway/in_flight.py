"""The exchanges of one worker, and what they remember for continuations."""

from collections.abc import Callable
from typing import Protocol

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.domain.errors import HeterodyneError
from heterodyne.gateway.decision_log import Decided


class Underway(Protocol):
    """One request that is being answered: by an exchange of ours, or by a proxy that we chose the replica for."""

    @property
    def decided(self) -> Decided | None:
        """The latest decision; None before the first."""
        ...

    @property
    def kept_bytes(self) -> int:
        """What is remembered of the answer in case it has to be continued."""
        ...

    def forget_kept(self) -> None:
        """Remember no more."""
        ...

    def check(self, now_s: float) -> None:
        """Enforce its limits of time."""
        ...

    def give_up(self, error: HeterodyneError) -> None:
        """End it with this error."""
        ...


class InFlight:
    """What is being answered now. One per worker."""

    def __init__(self, limit: ConcurrencyLimit, on_room: Callable[[str], None]) -> None:
        self.limit = limit
        self._on_room = on_room  # called with the model that may have room for another
        self.exchanges: set[Underway] = set()

    # Called by exchanges.

    def exchange_started(self, exchange: Underway) -> None:
        self.exchanges.add(exchange)
        self.limit.enter()

    def exchange_ended(self, exchange: Underway, model: str) -> None:
        self.exchanges.discard(exchange)
        self.limit.leave()
        self._on_room(model)

    def trim_kept(self, bytes_max: int) -> None:
        """Hold what is remembered for continuations within its bound: the longest answers are let go first."""
        keeping = [(one.kept_bytes, one) for one in self.exchanges]
        over = sum(size for size, _ in keeping) - bytes_max
        if over > 0:
            for size, exchange in sorted(keeping, key=lambda pair: -pair[0]):
                exchange.forget_kept()
                over -= size
                if over <= 0:
                    return
