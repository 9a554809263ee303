"""Pure: LiteLLM's default, simple shuffle: a replica at random, each as likely as the others.

LiteLLM can weigh deployments by hand; replicas here have no such weights.
"""

from collections.abc import Sequence

from heterodyne.routing.ask import Ask
from heterodyne.routing.peers.memoryless import Memoryless
from heterodyne.routing.peers.ties import any_of
from heterodyne.routing.picker import Chance
from heterodyne.routing.seat import Seat


class LitellmShuffle(Memoryless):
    """Looks at nothing."""

    name = "litellm-shuffle"

    def pick(self, ask: Ask, seats: Sequence[Seat], now_s: float, chance: Chance) -> Seat:
        """Any."""
        return any_of(seats, chance)
