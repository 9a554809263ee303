"""Pure: the vLLM production stack's `session`: a session stays on one replica; others go where requests are rarest.

Sessions are spread by the highest hash of session and replica, which moves as few of them as its hash ring does when
replicas come and go.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from math import exp

from heterodyne.routing.peers.by_place import ByPlace
from heterodyne.routing.peers.picking import cheapest_of
from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

RATE_WINDOW_S = 60.0
MIXER = 0x9E3779B97F4A7C15  # odd, so that no two products are alike: 2^64 over the golden ratio
BITS = 2**64 - 1


class VllmStackSession:
    """Blind to load as soon as there is a session."""

    name = "vllm-stack-session"

    def __init__(self) -> None:
        self._rates = ByPlace(_Rate)

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The session's own, or the one with the lowest rate."""
        if request.session:
            session = _hash(request.session)
            return max(states, key=lambda state: (session ^ _hash(state.replica.id)) * MIXER & BITS)
        return cheapest_of(states, [self._rates.of(state).at(now_s) for state in states], chance)

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """One more in the window."""
        self._rates.of(state).add(now_s)

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """Rates are of what has begun."""


class _Rate:
    """Requests in about the last minute: each fades instead of falling out of a window."""

    __slots__ = ("_at_s", "_count")

    def __init__(self) -> None:
        self._count = self._at_s = 0.0

    def at(self, now_s: float) -> float:
        return self._count * exp(min(0.0, self._at_s - now_s) / RATE_WINDOW_S)

    def add(self, now_s: float) -> None:
        self._count = self.at(now_s) + 1.0
        self._at_s = now_s


@lru_cache(maxsize=4096)
def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest())
