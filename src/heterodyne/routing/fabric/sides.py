"""Pure: which replicas of a model do what: all of a request, its prompt or its answer, and who may send KV to whom."""

from collections.abc import Sequence
from typing import Final, final

from heterodyne.domain.fleet import Health, PoolName
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.routing.predictive import Pool
from heterodyne.routing.replica_state import ReplicaState

STORE: Final = KvStrategy.STORE
SPLIT: Final = KvStrategy.SPLIT
MOVING: Final = (STORE, SPLIT, KvStrategy.AUTO)
DECODE: Final = ReplicaRole.DECODE
READY: Final = Health.READY


@final
class KvSides:
    """Whence KV of one model's prompts may come."""

    __slots__ = ("by_place", "moves", "prefilling", "splits", "stored")

    def __init__(self, *, moves: bool, splits: bool) -> None:
        self.moves = moves  # what is held may be brought
        self.splits = splits  # prompts may be computed elsewhere
        self.by_place: dict[int, ReplicaState] = {}  # all of its replicas that run
        self.stored: list[ReplicaState] = []  # one for each store and what its KV is made of
        self.prefilling: list[Pool] = []  # those that compute prompts for others, and may be asked now


def try_sides(strategy: KvStrategy, members: Sequence[ReplicaState], prefill: Sequence[ReplicaState]) -> KvSides | None:
    """Of the replicas that answer, and those that compute prompts for them; None: by this strategy no KV is brought,
    whatever replicas could."""
    if strategy not in MOVING:
        return None
    sides = KvSides(moves=strategy is not SPLIT, splits=strategy is not STORE)
    sides.by_place = {state.place: state for state in (*members, *prefill) if state.replica.health is READY}
    stores = {(state.replica.kv_store, state.replica.kv_layout): state for state in members if state.replica.kv_store}
    sides.stored = list(stores.values())
    pools: dict[PoolName, Pool] = {}
    for state in prefill:
        if state.replica.is_takeable:
            pools.setdefault(state.replica.pool, []).append(state)
    sides.prefilling = list(pools.values())
    return sides


def by_role(tiers: list[list[Pool]]) -> tuple[list[list[Pool]], list[Pool]]:
    """Pools that do all of a request, by tier, and those that only answer; where there are no others, those do all."""
    decoding = [pool for tier in tiers for pool in tier if pool[0].replica.role is DECODE]
    whole = [[pool for pool in tier if pool[0].replica.role is not DECODE] for tier in tiers]
    whole = [tier for tier in whole if tier]
    return (whole, decoding) if whole else (tiers, [])
