"""The exchanges of one worker, and what they remember for continuations."""

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.gateway.exchange import Exchange


class InFlight:
    """What is being answered now. One per worker."""

    def __init__(self, limit: ConcurrencyLimit) -> None:
        self.limit = limit
        self.exchanges: set[Exchange] = set()

    def enter(self, exchange: Exchange) -> None:
        """A request is being answered."""
        self.exchanges.add(exchange)
        self.limit.enter()

    def leave(self, exchange: Exchange) -> None:
        """It no longer is."""
        self.exchanges.discard(exchange)
        self.limit.leave()

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
