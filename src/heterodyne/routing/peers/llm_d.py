"""Pure: the llm-d router's default profile: queue 2, KV utilisation 2, prefix 3, the highest sum wins, ties by chance.

Queues and utilisation are what engines last published, so they lag; an engine that publishes nothing looks idle.
"""

from collections.abc import Sequence

from heterodyne.routing.ask import Ask
from heterodyne.routing.peers.llm_d_prefixes import LlmDPrefixes
from heterodyne.routing.peers.ties import cheapest_of
from heterodyne.routing.picker import Chance, Ended
from heterodyne.routing.seat import Seat

QUEUE_WEIGHT = 2.0
KV_WEIGHT = 2.0
PREFIX_WEIGHT = 3.0


class LlmD:
    """Scores without units, weighed once for every workload."""

    name = "llm-d"

    def __init__(self) -> None:
        self._prefixes = LlmDPrefixes()

    def pick(self, ask: Ask, seats: Sequence[Seat], now_s: float, chance: Chance) -> Seat:
        """The highest score."""
        gauges = [_gauges(seat) for seat in seats]
        longest, shortest = max(gauges)[0], min(gauges)[0]
        spread = longest - shortest
        costs = [
            -QUEUE_WEIGHT * ((longest - queue) / spread if spread else 1.0)
            - KV_WEIGHT * (1.0 - kv_share)
            - PREFIX_WEIGHT * share
            for (queue, kv_share), share in zip(gauges, self._prefixes.shares(ask, seats), strict=True)
        ]
        return cheapest_of(seats, costs, chance)

    def on_start(self, ask: Ask, seat: Seat, now_s: float) -> None:
        """The prompt is held to be cached there from now on."""
        self._prefixes.note(ask, seat)

    def on_end(self, ask: Ask, seat: Seat, ended: Ended, now_s: float) -> None:
        """What the engine found cached is not fed back."""


def _gauges(seat: Seat) -> tuple[int, float]:
    """Requests that wait in the engine, and the share of its KV memory in use."""
    load = seat.replica.load
    return (0, 0.0) if load is None else (load.waiting or 0, min(1.0, load.kv_share or 0.0))
