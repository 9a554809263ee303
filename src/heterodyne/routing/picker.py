"""One way to choose a replica. Ours predicts (`predictive`); those of other systems are in `peers/`."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

Chance = Callable[[], float]  # uniform, from 0 up to 1


class FinishedRequestStats(Struct, frozen=True, kw_only=True, gc=False):
    """How a request fared on the replica that was picked."""

    ttft_s: float | None  # None: no first token was seen, as of an answer that came whole
    total_s: float
    output_tokens: int
    cached_tokens: int | None = None  # as the engine counted them; None: it does not say
    is_complete: bool = True


class Picker(Protocol):
    """One per model; it may remember."""

    name: str

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """One of these, of which there is at least one and each may take the request."""
        ...

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """The request goes there; after a retry not where it was meant to."""
        ...

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """It is over."""
        ...
