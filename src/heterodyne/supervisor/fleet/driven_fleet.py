"""The replicas that drivers start and end, as members of the fleet that is wanted.

What a driver has with an address is a replica that workers know; what it has no more is none. A replica that is given
up takes nothing new, ends what it has, and only then is its driver asked for one fewer.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import structs

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.ports.fleet_driver import DrivenPool, DrivenReplica, FleetDriver
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import FleetMember
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import keep_running, run_periodically

FOLLOW_INTERVAL_S = 0.5

_log = log.get("assembly")


class OtherGateways(Protocol):
    """Those that may have the same replicas of a driver."""

    def may_end(self, driver: str) -> bool:
        """Whether a replica of this driver may be ended from here now."""
        ...

    def is_left(self, driver: str, replica: ReplicaId) -> bool:
        """Whether no other gateway has anything on it, and none will."""
        ...


class DrivenFleet:
    """One per supervisor."""

    def __init__(self, fleet: ManagedFleet, drivers: Sequence[FleetDriver]) -> None:
        self._fleet = fleet
        self._drivers = tuple(drivers)
        self._pools: dict[PoolName, tuple[FleetDriver, DrivenPool]] = {}
        self._given_up: dict[ReplicaId, tuple[int, float]] = {}  # by which version, and until when it may take
        self.emptied: frozenset[ReplicaId] = frozenset()  # of those, the ones that have nothing left from here
        self.others: OtherGateways | None = None  # None: there are none
        self._tasks: list[asyncio.Task[None]] = []
        self._problems: dict[str, str] = {}  # by driver; none where it answers
        self._asked: dict[PoolName, int] = {}  # what each pool was asked for last from here
        self.conflicts: dict[PoolName, str] = {}  # pools that somebody else has changed, until it is taken note of

    def start(self, group: asyncio.TaskGroup) -> None:
        """Have the drivers run, and follow them."""
        for driver in self._drivers:
            self._tasks.append(group.create_task(keep_running(driver.name, driver.run), name=driver.name))
        if self._drivers:
            following = run_periodically("driven fleet", self.follow, FOLLOW_INTERVAL_S)
            self._tasks.append(group.create_task(following, name="driven fleet"))

    def close(self) -> None:
        """End what runs here."""
        for task in self._tasks:
            task.cancel()

    def pools(self) -> dict[PoolName, DrivenPool]:
        """As they were seen last."""
        return {name: pool for name, (_, pool) in self._pools.items()}

    def driver_of(self, pool: PoolName) -> str | None:
        """Who starts its replicas; None: nobody from here."""
        return self._pools[pool][0].name if pool in self._pools else None

    def problem_of(self, pool: PoolName) -> str | None:
        """Why its driver does not answer; None: it does."""
        return self._problems.get(self.driver_of(pool) or "")

    def driver_of_replica(self, replica: ReplicaId) -> str | None:
        """Who has started it; None: nobody from here."""
        pools = [one.member.replica.pool for one in self._managed((replica,))]
        return self.driver_of(pools[0]) if pools else None

    def forget_asked(self) -> None:
        """Other counts hold from now on, by other settings or another gateway: that is no other scaler."""
        self._asked.clear()

    def given_up(self) -> frozenset[ReplicaId]:
        """Those that end what they have."""
        return frozenset(self._given_up)

    async def follow(self) -> None:
        """One look at every driver; those whose last answer is complete are ended."""
        await self._end_idle()
        known: dict[PoolName, tuple[FleetDriver, DrivenPool]] = {}
        for driver in self._drivers:
            try:
                pools = await driver.look()
            except HeterodyneError as error:
                if driver.name not in self._problems:
                    _log.warning("driver_away", driver=driver.name, error=str(error))
                self._problems[driver.name] = str(error)
                known |= {name: (one, pool) for name, (one, pool) in self._pools.items() if one is driver}
                continue
            self._problems.pop(driver.name, None)
            known |= {pool.pool: (driver, pool) for pool in pools}
        self._pools = known
        self._note_others()
        self._take(replica for _, pool in known.values() for replica in pool.replicas)

    async def scale(self, pool: PoolName, count: int, *, seen: int, leaving: Sequence[ReplicaId] = ()) -> None:
        """Ask the pool's driver; raises what it raises."""
        if pool not in self._pools:
            raise unknown_name("pool that is driven", pool, self._pools)
        driver, _ = self._pools[pool]
        await driver.scale(pool, count, seen=seen, leaving=leaving)
        self._asked[pool] = count
        _log.info("pool_scaled", driver=driver.name, pool=pool, wanted=count, before=seen, leaving=list(leaving))
        await self.follow()

    def give_up(self, replicas: Sequence[ReplicaId], within_s: float) -> None:
        """They take nothing new, and end when their last answer is complete, or after so long."""
        until_s = asyncio.get_running_loop().time() + within_s
        for managed in self._managed(replicas):
            managed.is_given_up = True
        version = self._fleet.publish()
        self._given_up |= {managed.member.replica.id: (version, until_s) for managed in self._managed(replicas)}

    def keep(self, replicas: Sequence[ReplicaId]) -> None:
        """Those of them that have not left yet take work again."""
        for managed in self._managed(replicas):
            managed.is_given_up = False
            self._given_up.pop(managed.member.replica.id, None)
        self._fleet.publish()

    def _note_others(self) -> None:
        """A count that nobody here has asked for is somebody else's."""
        for name, (driver, pool) in self._pools.items():
            asked = self._asked.get(name)
            if asked is not None and pool.wanted != asked:
                self.conflicts[name] = f"another scaler of {driver.name} wants {pool.wanted} of {name}, not {asked}"
                self._asked[name] = pool.wanted

    def _managed(self, replicas: Sequence[ReplicaId]) -> list[ManagedReplica]:
        return [one for one in self._fleet.replicas if one.member.is_driven and one.member.replica.id in replicas]

    async def _end_idle(self) -> None:
        """Those that were given up and have nothing left, or no time."""
        now_s = asyncio.get_running_loop().time()
        emptied: set[ReplicaId] = set()
        done: dict[PoolName, list[ReplicaId]] = {}
        for managed in self._managed(tuple(self._given_up)):
            replica = managed.member.replica
            version, until_s = self._given_up[replica.id]
            is_idle = await self._fleet.workers.wait_idle(replica.id, version, 0.0)
            if is_idle:
                emptied.add(replica.id)
            if self._may_end(replica, is_idle=is_idle, is_late=now_s >= until_s):
                done.setdefault(replica.pool, []).append(replica.id)
                _log.info("replica_given_up", replica=replica.id, is_idle=is_idle)
        self.emptied = frozenset(emptied)
        for pool, leaving in done.items():
            driver, seen = self._pools[pool]
            count = max(0, seen.wanted - len(leaving))
            try:
                await driver.scale(pool, count, seen=seen.wanted, leaving=leaving)
                self._asked[pool] = count
            except HeterodyneError as error:
                _log.warning("replica_not_ended", pool=pool, replicas=leaving, error=str(error))
                continue  # after the next look it is tried again
            for id in leaving:
                self._given_up.pop(id, None)

    def _may_end(self, replica: Replica, *, is_idle: bool, is_late: bool) -> bool:
        driver, others = self.driver_of(replica.pool), self.others
        if driver is None or not (is_idle or is_late):
            return False  # its driver has not been seen yet, or it still answers
        return others is None or (others.may_end(driver) and (is_late or others.is_left(driver, replica.id)))

    def _take(self, driven: Iterable[DrivenReplica]) -> None:
        """The fleet becomes what the drivers have."""
        wanted = {
            one.id: one.replica for one in driven if one.replica is not None and one.stage is not ReplicaStage.DRAINING
        }
        has_changed = False
        for managed in [one for one in self._fleet.replicas if one.member.is_driven]:
            id = managed.member.replica.id
            replica = wanted.pop(id, None)
            if replica is None:
                self._fleet.forget(id)
                self._given_up.pop(id, None)
                _log.info("replica_left", replica=id)
            elif replica != managed.member.replica:
                managed.member = structs.replace(managed.member, replica=replica)
            else:
                continue
            has_changed = True
        for replica in wanted.values():
            self._fleet.add(ManagedReplica(FleetMember(replica=replica, is_driven=True)))
            has_changed = True
        if has_changed:
            self._fleet.publish()
