"""Pure: what several peers have in common: ties left to chance, and nothing kept of requests that start and end."""

from collections.abc import Sequence

from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest


class Memoryless:
    """The half of a picker that has nothing to do."""

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """Nothing is kept."""

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """Nothing was kept."""


def any_of(states: Sequence[ReplicaState], chance: Chance) -> ReplicaState:
    """Each as likely as the others."""
    return states[int(chance() * len(states))] if len(states) > 1 else states[0]


def cheapest_of(states: Sequence[ReplicaState], costs: Sequence[float], chance: Chance) -> ReplicaState:
    """The one whose cost, at the same position, is lowest."""
    lowest = min(costs)
    return any_of([state for state, cost in zip(states, costs, strict=True) if cost == lowest], chance)


def idlest_of(states: Sequence[ReplicaState], chance: Chance) -> ReplicaState:
    """The one with the fewest requests in flight from here."""
    return cheapest_of(states, [state.in_flight for state in states], chance)
