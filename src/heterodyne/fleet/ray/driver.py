"""The fleet driver of a Ray cluster: every replica is an actor that runs the pool's command on a node that Ray chooses.

The count of a pool is kept by an actor of its own there, so that it outlives the gateway and several gateways share it.
Who asks for an answer gets what was seen last; the cluster is asked every second by a process beside the supervisor.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, structs

from heterodyne.domain.errors import DriverUnavailable, ScalerConflict
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.command_pool import CommandPool, check_count
from heterodyne.fleet.ray.messages import AskedCount, RayAnswer, RayCall, RayNode, RayOrder, RayPoolSpec, RayReplica
from heterodyne.fleet.ray.placement import actor_options, why_pending
from heterodyne.fleet.ray.ray_process import RayProcess
from heterodyne.fleet.settings import PoolSettings
from heterodyne.ports.fleet_driver import DrivenPool, DrivenReplica

POLL_S = 1.0
PAUSE_MAX_S = 15.0  # between two tries of a cluster that is away
REGION = "ray.io/availability-region"  # label of a node


class PlacedRayPool(Struct, frozen=True, kw_only=True):
    """One pool of the cluster."""

    pool: CommandPool
    settings: PoolSettings  # for what its actors ask of a node


class RayDriver:
    """One per supervisor."""

    name = "ray"

    def __init__(
        self,
        order: RayOrder | None,
        pools: Mapping[PoolName, PlacedRayPool],
        *,
        connect: Callable[[RayOrder], RayProcess] = RayProcess,
    ) -> None:
        """`order` says which cluster; None: there is none, and no pools."""
        self._connect = connect
        self._order = order
        self._pools = dict(pools)
        self._process = None if order is None else connect(order)
        self._seen: dict[PoolName, DrivenPool] = {}
        self._unseen: dict[PoolName, str] = {}  # why a pool was never seen
        self._dropped: dict[PoolName, PlacedRayPool] = {}  # that a reload took out, until they have no replicas
        self._former: list[RayProcess] = []  # of another cluster, to be ended
        self._error: DriverUnavailable | None = None  # None: it answers

    async def run(self) -> None:
        """Look after the pools until cancelled; the replicas stay."""
        pause_s = POLL_S
        try:
            while True:
                try:
                    await self._turn()
                    pause_s = POLL_S
                except DriverUnavailable as error:
                    self._error = error
                    pause_s = min(2 * pause_s, PAUSE_MAX_S)
                await asyncio.sleep(pause_s)
        finally:
            for process in (*self._former, *([] if self._process is None else [self._process])):
                await process.close()

    def take(self, order: RayOrder | None, pools: Mapping[PoolName, PlacedRayPool]) -> None:
        """Other settings: a pool that is gone is emptied; replicas that run stay as they were started."""
        if order != self._order:
            if self._process is not None:
                self._former.append(self._process)
            self._order, self._process = order, None if order is None else self._connect(order)
            self._seen.clear()
        self._dropped |= {name: one for name, one in self._pools.items() if name not in pools}
        self._pools = dict(pools)
        for name in pools:
            self._dropped.pop(name, None)

    async def look(self) -> tuple[DrivenPool, ...]:
        """As they were seen last."""
        if not self._pools:
            return ()
        if self._error is not None:
            raise self._error
        if not self._seen:
            raise DriverUnavailable("; ".join(self._unseen.values()) or "the Ray cluster was not asked yet")
        return tuple(pool for name, pool in self._seen.items() if name in self._pools)

    async def scale(self, pool: PoolName, count: int, *, seen: int, leaving: Sequence[ReplicaId] = ()) -> None:
        """Have the pool's keeper take the count."""
        if pool not in self._pools:
            raise unknown_name("pool", pool, self._pools)
        check_count(self._pools[pool].pool, count, seen=seen, wanted=None)
        await self._ask(
            {pool: self._pools[pool]}, AskedCount(pool=pool, count=count, seen=seen, leaving=tuple(leaving))
        )

    async def _turn(self) -> None:
        while self._former:
            await self._former.pop().close()
        pools = {**self._pools, **self._dropped}
        if not pools:
            self._error = None
            return
        await self._ask(pools, None)
        self._error = None
        for name, one in pools.items():
            seen = self._seen.get(name)
            if seen is None or seen.problem is not None:
                continue
            wanted = 0 if name in self._dropped else min(max(seen.wanted, one.pool.minimum), one.pool.maximum)
            if wanted != seen.wanted:
                with contextlib.suppress(ScalerConflict):  # the next turn sees what the other has asked for
                    await self._ask(pools, AskedCount(pool=name, count=wanted, seen=seen.wanted))
            elif name in self._dropped and not seen.replicas:
                del self._dropped[name], self._seen[name]

    async def _ask(self, pools: Mapping[PoolName, PlacedRayPool], asked: AskedCount | None) -> None:
        if self._process is None:
            raise DriverUnavailable("fleet.ray_address is not set")
        known: dict[str, int] = {name: seen.wanted for name, seen in self._seen.items() if name in pools}
        answer = await self._process.ask(
            RayCall(pools={name: _spec(one) for name, one in pools.items()}, known=known, asked=asked)
        )
        self._take(pools, answer)
        if asked is None:
            return
        said = answer.pools[asked.pool]
        if said.conflict is not None:
            raise ScalerConflict(f"pools.{asked.pool}: {said.conflict} replicas are wanted by now, not {asked.seen}")
        if said.error is not None:
            raise DriverUnavailable(f"pools.{asked.pool}: {said.error}")

    def _take(self, pools: Mapping[PoolName, PlacedRayPool], answer: RayAnswer) -> None:
        for name, pool in pools.items():
            said = answer.pools.get(name)
            if said is None or said.conflict is not None:
                continue
            if said.error is not None or said.wanted is None:
                self._unseen[name] = f"actor keeper/{name}: {said.error}"
                if name in self._seen:
                    self._seen[name] = structs.replace(self._seen[name], problem=self._unseen[name])
                continue
            self._seen[name] = DrivenPool(
                pool=name,
                wanted=said.wanted,
                replicas=tuple(_driven(pool, one, answer.nodes) for one in said.replicas),
                maximum=pool.pool.maximum,
            )


def _spec(one: PlacedRayPool) -> RayPoolSpec:
    pool = one.pool
    return RayPoolSpec(
        words=pool.words,
        health_path=pool.health_path,
        first=pool.first,
        start_timeout_s=pool.start_timeout_s,
        stop_timeout_s=pool.stop_timeout_s,
        options=actor_options(one.settings),
    )


def _driven(pool: PlacedRayPool, said: RayReplica, nodes: Sequence[RayNode]) -> DrivenReplica:
    stage, name = ReplicaStage(said.stage), pool.pool.replica.pool
    problem = why_pending(pool.settings, nodes) if stage is ReplicaStage.PENDING else said.problem
    return DrivenReplica(
        id=ReplicaId(said.id),
        stage=stage,
        asked_at_s=said.asked_at_s,
        ready_at_s=said.ready_at_s,
        replica=_addressed(pool.pool.replica, said, nodes),
        problem=None if problem is None else f"actor replica/{name}/{said.id}: {problem}",
    )


def _addressed(picture: Replica, said: RayReplica, nodes: Sequence[RayNode]) -> Replica | None:
    """Where it listens, in the region that its node says."""
    if said.host is None:
        return None
    labels = next((node.labels for node in nodes if node.node_id == said.node), {})
    return structs.replace(
        picture,
        id=ReplicaId(said.id),
        host=said.host,
        port=said.port,
        region=labels.get(REGION) or picture.region,
    )
