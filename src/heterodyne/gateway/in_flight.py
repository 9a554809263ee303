"""The exchanges of one worker, and what they remember for continuations."""

from collections.abc import Callable

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.gateway.exchange import Exchange


class InFlight:
    """What is being answered now. One per worker."""

    def __init__(self, limit: ConcurrencyLimit, on_room: Callable[[str], None]) -> None:
        self.limit = limit
        self._on_room = on_room  # called with the model that may have room for another
        self.exchanges: set[Exchange] = set()

    # Called by exchanges.

    def exchange_started(self, exchange: Exchange) -> None:
        self.exchanges.add(exchange)
        self.limit.enter()

    def exchange_ended(self, exchange: Exchange, model: str) -> None:
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
