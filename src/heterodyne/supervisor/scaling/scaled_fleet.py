"""The part of the fleet that grows and shrinks: who is there, and how a step is carried out."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId, Wake
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.planning.scaling.action import ActionKind, ScalingAction
from heterodyne.planning.scaling.observation import Observation
from heterodyne.ports.fleet_driver import DrivenPool
from heterodyne.supervisor.fleet.driven_fleet import DrivenFleet
from heterodyne.supervisor.scaling.observer import MemberSeen
from heterodyne.supervisor.workers.view import WorkerView

NOBODY = "nobody starts replicas of this pool from here"


class ScaledFleet(Struct, frozen=True, kw_only=True, eq=False):
    """What the autoscaler asks of the fleet."""

    driven: DrivenFleet
    replicas: Callable[[], Sequence[Replica]]  # as workers have them
    views: Callable[[], Sequence[WorkerView]]
    take_wakes: Callable[[Mapping[str, Wake]], None]  # to the workers
    take_told: Callable[[Mapping[PoolName, int]], None] = lambda _: None  # to scalers that ask this gateway

    def members(self, pools: Sequence[PoolName], speed: float) -> dict[PoolName, tuple[MemberSeen, ...]]:
        """Those of a driver, as it has them, and those of URLs; times pass at this speed."""
        driven, given_up = self.driven.pools(), self.driven.given_up()
        replicas = self.replicas()
        aside = {one.id for one in replicas if one.is_draining and one.id not in given_up}  # by an operator
        found: dict[PoolName, tuple[MemberSeen, ...]] = {}
        for pool in pools:
            if pool in driven:
                found[pool] = tuple(_driven_members(driven[pool], given_up, aside, speed))
            else:
                found[pool] = tuple(
                    MemberSeen(id=one.id, asked_at_s=0.0, is_there=True, is_leaving=one.is_draining)
                    for one in replicas
                    if one.pool == pool
                )
        return found

    def pictures(self) -> Mapping[PoolName, Replica]:
        """One replica of each pool that has any."""
        return {one.pool: one for one in reversed(self.replicas())}

    async def carry_out(self, action: ScalingAction, seen: Observation, drain_timeout_s: float) -> str:
        """Why it could not be; empty: it was."""
        pool = action.pool
        driven = self.driven.pools().get(pool) if pool is not None else None
        if pool is None or driven is None:
            return NOBODY
        try:
            if action.kind is ActionKind.ADD:
                await self.driven.scale(pool, driven.wanted + action.count, seen=driven.wanted)
            elif action.kind is ActionKind.KEEP:
                self.driven.keep(action.replicas)
            else:
                await self._drain(driven, action.replicas, seen, drain_timeout_s)
        except HeterodyneError as error:
            return str(error)
        return ""

    async def _drain(
        self, pool: DrivenPool, replicas: Sequence[ReplicaId], seen: Observation, drain_timeout_s: float
    ) -> None:
        """Those that serve finish first; those that only come have nothing to finish."""
        stages = {one.id: one.stage for one in seen.pool(pool.pool).replicas}
        coming = [one for one in replicas if stages.get(one) is not ReplicaStage.READY]
        if coming:
            await self.driven.scale(pool.pool, max(0, pool.wanted - len(coming)), seen=pool.wanted, leaving=coming)
        serving = [one for one in replicas if one not in coming]
        if serving:
            self.driven.give_up(serving, drain_timeout_s)


def _driven_members(
    pool: DrivenPool, given_up: frozenset[ReplicaId], aside: set[ReplicaId], speed: float
) -> list[MemberSeen]:
    return [
        MemberSeen(
            id=one.id,
            asked_at_s=one.asked_at_s * speed,
            is_there=one.stage is ReplicaStage.READY,
            is_leaving=one.stage is ReplicaStage.DRAINING or one.id in given_up,
            taken_at_s=None if one.taken_at_s is None else one.taken_at_s * speed,
        )
        for one in pool.replicas
        if one.id not in aside
    ]
