"""Pure: which replicas others probably send to at the same moment, so that workers which see the same choose apart.

Requests that come together are placed before anybody can tell of them. Each worker takes an equal part of every pool
for its own, by the order of what engines go by, which is the same for all. Any other replica counts as if what is
likely to be left of a usual prompt had just been sent there: it is taken where it is better by more than that.
"""

from collections.abc import Mapping
from math import exp
from typing import Final

from heterodyne.routing.prediction.pool_speed import PROMPT_RATE_S, PoolSpeed
from heterodyne.routing.replica_state import ReplicaState

CLAIM_MAX: Final = 1.0  # of a usual prompt
TOLD_S: Final = 0.1  # until others hear of what was sent
KEPT_SHARE: Final = 0.98  # of what is known of how requests come, from one turn to the next


class Claims:
    """One per worker."""

    def __init__(self) -> None:
        self._by_key: Mapping[str, ReplicaState] = {}
        self._pools: list[list[ReplicaState]] | None = None  # each in the order that is the same for all; None: anew
        self._has_others = False
        self._started: int | None = None  # requests that this worker had sent when its last turn was; None: not known
        self._requests = self._pairs = 0.0  # lately, and pairs of them that came in the same turn

    def publish(self, by_key: Mapping[str, ReplicaState]) -> None:
        """The replicas there are, by what their engines go by."""
        self._by_key, self._pools = by_key, None

    def settle(self, place: int, workers: int, now_s: float) -> None:
        """A turn is over, and this is the worker at that place of so many that tell each other what they do."""
        if workers == 1:
            if self._has_others:
                self._has_others, self._started = False, None
                for state in self._by_key.values():
                    state.claimed_s = 0.0
            return
        self._has_others = True
        self._count()
        if self._pools is None:
            self._pools = _by_pool(self._by_key)
        unheard = self._pairs / self._requests if self._requests > 0.0 else 0.0
        for states in self._pools:
            claimed_s = _claimed_s(states[0].speed, unheard, workers, now_s)
            for number, state in enumerate(states):
                state.claimed_s = 0.0 if number % workers == place else claimed_s

    def _count(self) -> None:
        """Replicas that left take theirs along: then a few are not counted."""
        started = sum(state.started for state in self._by_key.values())
        new = 0 if self._started is None else max(0, started - self._started)
        self._started = started
        self._requests = KEPT_SHARE * self._requests + new
        self._pairs = KEPT_SHARE * self._pairs + 0.5 * new * (new - 1)


def _by_pool(by_key: Mapping[str, ReplicaState]) -> list[list[ReplicaState]]:
    pools: dict[int, list[ReplicaState]] = {}
    for _, state in sorted(by_key.items()):
        pools.setdefault(id(state.speed), []).append(state)
    return list(pools.values())


def _claimed_s(speed: PoolSpeed, unheard: float, workers: int, now_s: float) -> float:
    """Seconds of prompts. `unheard` are the requests that this worker itself has sent, when one comes, since others
    could hear of any: another worker has as many, by what it sends beside this one."""
    own = speed.prompt_rate * exp(-max(0.0, now_s - speed.prompt_at_s) / PROMPT_RATE_S)
    theirs = speed.heard_prompt_share * speed.replicas / (workers - 1)
    if own <= 0.0:
        return 0.0
    likely = unheard * theirs / own
    prompt_s = speed.prompts * speed.prompt_work_s
    return (likely if likely < CLAIM_MAX else CLAIM_MAX) * prompt_s * _left_share(prompt_s)


def _left_share(prompt_s: float) -> float:
    """How much of a prompt is still to be computed when another comes, which is soon told of: of one that is quick
    nearly all is done by then, and to go elsewhere would be for nothing."""
    return 0.5 * prompt_s / TOLD_S if prompt_s < TOLD_S else 1.0 - 0.5 * TOLD_S / prompt_s
