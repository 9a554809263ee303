"""Pure: of two replicas drawn at random the one with fewer requests in flight; Envoy's and Ray Serve's default."""

from collections.abc import Sequence

from heterodyne.routing.ask import Ask
from heterodyne.routing.peers.memoryless import Memoryless
from heterodyne.routing.picker import Chance
from heterodyne.routing.seat import Seat


class PowerOfTwo(Memoryless):
    """Nearly as good as the least of all, and does not herd on counts that are old."""

    name = "power-of-two"

    def pick(self, ask: Ask, seats: Sequence[Seat], now_s: float, chance: Chance) -> Seat:
        """The idler of two; of two alike the first drawn."""
        if len(seats) == 1:
            return seats[0]
        first = int(chance() * len(seats))
        second = int(chance() * (len(seats) - 1))
        second += second >= first  # never the same twice
        return min(seats[first], seats[second], key=_in_flight)


def _in_flight(seat: Seat) -> int:
    return seat.in_flight
