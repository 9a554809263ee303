"""How many tokens of prompts came from where in the last minutes, by the replica that answered."""

from collections import deque
from collections.abc import Callable
from typing import Final

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.kv_seen import WINDOW_MIN, KvMix
from heterodyne.gateway.finished import Finished
from heterodyne.routing.replica_state import ReplicaState

REPLICAS_MAX: Final = 4096
MINUTE_S: Final = 60.0
NOTHING: Final = KvMix()

NAMES: Final = KvMix.__struct_fields__
PROMPTS, COMPUTED, OWN = (NAMES.index(name) for name in ("prompts", "computed", "own"))
PLACES: Final = {origin.value: NAMES.index(origin.value) for origin in KvOrigin}

Sums = list[float]  # in the order of `NAMES`


class KvTally:
    """One per worker."""

    def __init__(self, token_bytes: Callable[[ReplicaState], float]) -> None:
        """`token_bytes` says what a token of a replica's KV takes."""
        self._token_bytes = token_bytes
        self._minutes: deque[tuple[int, dict[ReplicaId, Sums]]] = deque(maxlen=WINDOW_MIN)

    def ended(self, finished: Finished, ended: EndedRequest, now_s: float) -> None:
        """A request that a replica was asked for has ended."""
        prompt = ended.prompt_tokens
        if not ended.replica or not prompt:
            return
        sums = self._sums(ReplicaId(ended.replica), now_s)
        if sums is None:
            return
        brought = 0.0
        kv = finished.kv
        if kv is not None and kv.plan is not None and kv.tokens:
            # What the replica held already was not moved.
            moved = kv.plan.byte_count / self._token_bytes(kv.plan.forecast.state)
            brought = min(float(prompt), moved)
            sums[PLACES[kv.plan.origin.value]] += brought
        own = max(0.0, min(prompt, ended.cached_tokens) - brought)
        sums[PROMPTS] += 1
        sums[OWN] += own
        sums[COMPUTED] += prompt - own - brought

    def mixes(self, now_s: float) -> dict[ReplicaId, KvMix]:
        """Of every replica that has answered lately."""
        oldest = int(now_s // MINUTE_S) - WINDOW_MIN
        whole: dict[ReplicaId, Sums] = {}
        for minute, by_replica in self._minutes:
            if minute > oldest:
                for replica, sums in by_replica.items():
                    known = whole.get(replica)
                    whole[replica] = (
                        sums if known is None else [one + other for one, other in zip(known, sums, strict=True)]
                    )
        return {replica: KvMix(**dict(zip(NAMES, map(round, sums), strict=True))) for replica, sums in whole.items()}

    def _sums(self, replica: ReplicaId, now_s: float) -> Sums | None:
        """None: of more replicas nothing is counted."""
        minute = int(now_s // MINUTE_S)
        if not self._minutes or self._minutes[-1][0] != minute:
            self._minutes.append((minute, {}))
        by_replica = self._minutes[-1][1]
        sums = by_replica.get(replica)
        if sums is None and len(by_replica) < REPLICAS_MAX:
            sums = by_replica[replica] = [0.0] * len(NAMES)
        return sums
