"""Pure: LiteLLM's latency-based routing: the lowest mean of the last ten samples, ties by chance.

A sample is seconds divided by completion tokens; of a streamed answer the seconds to its first token. Who has not
answered yet counts as 0 and goes first. The whole table lapses when nothing has ended for an hour. Answers that did
not end well leave no sample: LiteLLM counts 1000 s for a time-out, which is no different from other ends here.
"""

from collections import deque
from collections.abc import Sequence

from heterodyne.routing.peers.by_place import ByPlace
from heterodyne.routing.peers.picking import any_of
from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

SAMPLES_MAX = 10
TABLE_TTL_S = 3600.0
LOWEST_LATENCY_BUFFER = 0.0  # of the best, that others may lie above it and still be drawn


class LitellmLatency:
    """Learns from answers alone: what is in flight does not count."""

    name = "litellm-latency"

    def __init__(self) -> None:
        self._latencies = ByPlace(_Latencies)
        self._written_at_s = 0.0

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """One of the fastest."""
        if now_s - self._written_at_s > TABLE_TTL_S:
            self._latencies.clear()
        means = [self._latencies.of(state).mean for state in states]
        limit = min(means) * (1.0 + LOWEST_LATENCY_BUFFER)
        return any_of([state for state, mean in zip(states, means, strict=True) if mean <= limit], chance)

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """A replica that is given work is known from now on, also where there was no choice."""
        self._latencies.of(state)

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """One more sample."""
        latencies = self._latencies.try_of(state)
        if latencies is None or not ended.is_complete:
            return
        seconds = ended.total_s if ended.ttft_s is None else ended.ttft_s
        latencies.add(seconds / max(1, ended.output_tokens))
        self._written_at_s = now_s


class _Latencies:
    """The last few of one replica, in seconds per completion token."""

    __slots__ = ("_samples", "mean")

    def __init__(self) -> None:
        self._samples: deque[float] = deque(maxlen=SAMPLES_MAX)
        self.mean = 0.0  # none yet

    def add(self, latency: float) -> None:
        self._samples.append(latency)
        self.mean = sum(self._samples) / len(self._samples)
