"""The changes of the fleet that an operator may make; every one goes to all workers, and loses no stream."""

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import structs

from heterodyne.concurrency.deadline import deadline
from heterodyne.config.checks.catalogue import CHECKS
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.forms import Addition, ReloadOrder, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded, SettingsStanding
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.fleet import Health, Replica, ReplicaId, Wake
from heterodyne.domain.key_restriction import KeyRestriction
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.fleet.kubernetes.driver import KubernetesDriver
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.ports.fleet_driver import FleetDriver
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.supervisor.fleet.discovery import DiscoveryWatch
from heterodyne.supervisor.fleet.driven_fleet import DrivenFleet
from heterodyne.supervisor.fleet.fleet_reload import FleetReload
from heterodyne.supervisor.fleet.key_origins import check_key_origin
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet, ordered
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import FleetMember, free_id
from heterodyne.supervisor.fleet.replica_rows import replica_rows
from heterodyne.supervisor.workers.decision_client import DecisionClient
from heterodyne.supervisor.workers.workers import Workers
from heterodyne.telemetry import log

_log = log.get("assembly")


class AgreedReload(Protocol):
    """A reload of all gateways over one fleet."""

    async def reload(self) -> Reloaded: ...

    def standing(self) -> SettingsStanding: ...


class FleetOwner:
    """What the admin API knows as the fleet; one per supervisor."""

    def __init__(
        self,
        fleet: ManagedFleet,
        reload: FleetReload,
        decisions: DecisionClient,
        *,
        discovery: DiscoveryWatch,
        cluster: KubernetesDriver,
        drivers: Sequence[FleetDriver] = (),
    ) -> None:
        self._fleet = fleet
        self.driven = DrivenFleet(fleet, (*drivers, cluster))
        self.local = reload
        self.agreed: AgreedReload | None = None  # None: this gateway tells no other of itself
        self.decisions = decisions
        self.discovery = discovery
        self.cluster = cluster

    @property
    def settings(self) -> Settings:
        """Those it works by; every good reload brings others."""
        return self._fleet.settings

    @property
    def workers(self) -> Workers:
        """The processes that serve it."""
        return self._fleet.workers

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin what is to run here; everything that follows is a child of the group."""
        self._fleet.start(group)
        self.driven.start(group)

    def close(self) -> None:
        """Change nothing more and end what runs here."""
        self._fleet.close()
        self.driven.close()

    def engines(self) -> dict[SupervisedProcess, str]:
        """The processes of replicas that were started here, and their models."""
        return {
            managed.process: managed.member.replica.model
            for managed in self._fleet.replicas
            if managed.process is not None
        }

    def page(self) -> FleetPage:
        """Everything an operator may want to see."""
        workers = self.workers
        return FleetPage(
            version=workers.version,
            is_applied=workers.is_applied,
            workers=workers.rows(),
            replicas=replica_rows([managed.snapshot() for managed in self._fleet.replicas], workers.views()),
            reload=self.local.last,
            settings=SettingsStanding(version=self.local.version.word)
            if self.agreed is None
            else self.agreed.standing(),
        )

    async def take_tenants(self, tenants: TenantSnapshot) -> bool:
        """Other tenants and keys for every worker; whether all of them work by it."""
        await self.workers.take_tenants(tenants)
        return await self._fleet.wait_applied(self._fleet.publish())

    def take_splits(self, splits: Mapping[str, RolloutSplit]) -> None:
        """Other shares of rollouts for every worker."""
        self.workers.splits = dict(splits)
        self._fleet.publish()

    def take_wakes(self, wakes: Mapping[str, Wake]) -> None:
        """Other models that requests are held for while none of their replicas is ready, for every worker."""
        self.workers.wakes = dict(wakes)
        self._fleet.publish()

    def begin_restricted(self, restrictions: tuple[KeyRestriction, ...]) -> None:
        """What is held against keys from the first request on; before the workers are started."""
        if restrictions:
            self.workers.restrictions = restrictions
            self._fleet.publish()

    async def take_restrictions(self, restrictions: tuple[KeyRestriction, ...]) -> bool:
        """What is held against keys, for every worker; whether all of them work by it."""
        self.workers.restrictions = restrictions
        return await self._fleet.wait_applied(self._fleet.publish())

    async def take_drops(self, drops: tuple[CacheDrop, ...]) -> bool:
        """Other drops of kept answers for every worker; whether all of them work by it."""
        self.workers.drops = drops
        return await self._fleet.wait_applied(self._fleet.publish())

    def replicas(self) -> tuple[Replica, ...]:
        """Those that are wanted, as workers get them."""
        return ordered(self._fleet.serving())

    def ready(self) -> set[ReplicaId]:
        """Those that some worker sees ready."""
        views = self.workers.views()
        return {one.id for view in views for one in view.fleet.replicas if one.health is Health.READY}

    async def drain(self, selection: Selection) -> Changed:
        """Give them nothing new until they are undrained."""
        chosen = self._fleet.choose(selection)
        for managed in chosen:
            managed.is_drained = True
        return await self._changed(chosen)

    async def undrain(self, selection: Selection) -> Changed:
        """They may take work again."""
        chosen = self._fleet.choose(selection)
        for managed in chosen:
            managed.is_drained = False
        return await self._changed(chosen)

    async def restart(self, selection: Selection) -> Changed:
        """Restart what was started here, one replica after the other."""
        chosen = self._fleet.choose(selection)
        for managed in chosen:
            if managed.process is None:
                raise ChangeRefused(
                    f'"{managed.member.replica.id}" was not started here, so it cannot be restarted from here. '
                    "Drain it, restart it where it runs, and undrain it."
                )
            if managed.is_restarting:
                raise ChangeRefused(f'"{managed.member.replica.id}" is already being restarted.')
        self._fleet.spawn(self._restart_all(chosen), "restart")
        return Changed(
            version=self.workers.version,
            replicas=_ids(chosen),
            is_applied=self.workers.is_applied,
            note="They restart one after the other, each when its last answer is complete.",
        )

    async def add(self, addition: Addition) -> Changed:
        """One more replica by URL, until the next reload."""
        settings = self.settings
        pool = settings.pools.get(addition.pool)
        if pool is None:
            raise unknown_name("pool", addition.pool, settings.pools)
        trial = structs.replace(
            settings,
            pools={**settings.pools, addition.pool: structs.replace(pool, urls=(*pool.urls, addition.url))},
        )
        problems = tuple(problem for check in CHECKS for problem in check(trial, os.environ))
        if problems:
            raise SettingsProblems(problems)
        if not addition.without_key:
            check_key_origin(addition.pool, pool, addition.url)
        described = [one for one in remote_replicas(trial) if one.pool == addition.pool][-1]
        place = (described.host, described.port, described.base_path)
        for managed in self._fleet.serving():
            known = managed.member.replica
            if known.pool == described.pool and (known.host, known.port, known.base_path) == place:
                raise ChangeRefused(f'{addition.url} is already in the fleet, as "{known.id}".')
        if addition.without_key:
            described = structs.replace(described, api_key_env=None)
        id = free_id(described.pool, (one.member.replica.id for one in self._fleet.replicas), preferred=described.id)
        managed = ManagedReplica(FleetMember(replica=structs.replace(described, id=id), is_added=True))
        self._fleet.add(managed)
        return await self._changed(
            [managed], note="It stays until the next reload; put it into the settings to keep it."
        )

    async def remove(self, selection: Selection) -> Changed:
        """Take them out of the fleet, when their last answers are complete, until the next reload."""
        chosen = self._fleet.choose(selection)
        for managed in chosen:
            if managed.member.is_driven:
                raise ChangeRefused(
                    f'"{managed.member.replica.id}" comes and goes by its driver, which would start another. Drain it, '
                    "or change the pool's `autoscaling` and reload."
                )
        for managed in chosen:
            managed.is_leaving = True
        self._fleet.spawn(self._fleet.retire(chosen, self._fleet.publish()), "remove")
        known = [managed.member.replica.id for managed in chosen if not managed.member.is_added]
        note = f"The settings still have {', '.join(known)}: the next reload or restart brings them back."
        return await self._changed(chosen, note=note if known else "")

    async def reload(self, order: ReloadOrder) -> Reloaded:
        """Read the settings again and work by them, with all gateways or alone; bad ones are refused as a whole."""
        if self.agreed is None or order.alone:
            return await self.local.reload()
        return await self.agreed.reload()

    async def _restart_all(self, chosen: Sequence[ManagedReplica]) -> None:
        for managed in chosen:
            if not managed.is_leaving:
                await self._restart(managed)

    async def _restart(self, managed: ManagedReplica) -> None:
        process, replica = managed.process, managed.member.replica
        assert process is not None
        managed.is_restarting = True
        try:
            version = self._fleet.publish()
            is_idle = await self._fleet.wait_idle(managed, version)
            _log.info("replica_restarts", replica=replica.id, is_idle=is_idle)
            await process.restart()
            async with deadline(managed.member.start_timeout_s):
                await process.started.wait()
                await self.workers.wait_ready([replica.id], managed.member.start_timeout_s)
        except TimeoutError:
            _log.error("replica_slow_to_restart", replica=replica.id, waited_s=managed.member.start_timeout_s)
        finally:
            managed.is_restarting = False
            self._fleet.publish()

    async def _changed(self, chosen: Iterable[ManagedReplica], note: str = "") -> Changed:
        version = self._fleet.publish()
        is_applied = await self._fleet.wait_applied(version)
        return Changed(version=version, replicas=_ids(chosen), is_applied=is_applied, note=note)


def _ids(chosen: Iterable[ManagedReplica]) -> tuple[ReplicaId, ...]:
    return tuple(managed.member.replica.id for managed in chosen)
