"""Pure: each replica in turn, in the order of their ids."""

from collections.abc import Sequence

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.ask import Ask
from heterodyne.routing.peers.memoryless import Memoryless
from heterodyne.routing.picker import Chance
from heterodyne.routing.seat import Seat


class RoundRobin(Memoryless):
    """Remembers whose turn it was, so that comings and goings do not start the round again."""

    name = "round-robin"

    def __init__(self) -> None:
        self._last = ReplicaId("")

    def pick(self, ask: Ask, seats: Sequence[Seat], now_s: float, chance: Chance) -> Seat:
        """The next one after the last."""
        last = self._last
        picked = min([seat for seat in seats if seat.replica.id > last] or seats, key=_id)
        self._last = picked.replica.id
        return picked


def _id(seat: Seat) -> ReplicaId:
    return seat.replica.id
