"""Pure: the replica with the fewest requests in flight from this router, ties by chance."""

from collections.abc import Sequence

from heterodyne.routing.ask import Ask
from heterodyne.routing.peers.memoryless import Memoryless
from heterodyne.routing.peers.ties import idlest_of
from heterodyne.routing.picker import Chance
from heterodyne.routing.seat import Seat


class LeastRequest(Memoryless):
    """Blind to how long a request is and how fast a replica."""

    name = "least-request"

    def pick(self, ask: Ask, seats: Sequence[Seat], now_s: float, chance: Chance) -> Seat:
        """The idlest."""
        return idlest_of(seats, chance)
