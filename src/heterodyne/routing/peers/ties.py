"""Pure: one of several, and the cheapest of several with ties left to chance, as most peers break them."""

from collections.abc import Sequence

from heterodyne.routing.picker import Chance
from heterodyne.routing.seat import Seat


def any_of(seats: Sequence[Seat], chance: Chance) -> Seat:
    """Each as likely as the others."""
    return seats[int(chance() * len(seats))] if len(seats) > 1 else seats[0]


def cheapest_of(seats: Sequence[Seat], costs: Sequence[float], chance: Chance) -> Seat:
    """The one whose cost, at the same position, is lowest."""
    lowest = min(costs)
    return any_of([seat for seat, cost in zip(seats, costs, strict=True) if cost == lowest], chance)


def idlest_of(seats: Sequence[Seat], chance: Chance) -> Seat:
    """The one with the fewest requests in flight from here."""
    return cheapest_of(seats, [seat.in_flight for seat in seats], chance)
