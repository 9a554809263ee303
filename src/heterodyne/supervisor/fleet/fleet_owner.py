"""Owns the fleet that is wanted: every change goes through here, is told to all workers, and loses no stream.

A replica on its way out gets nothing new, ends what it has within `gateway.drain_timeout_s`, and only then leaves; one
that takes the place of another is ready before the other begins to leave.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from heterodyne.concurrency.deadline import deadline
from heterodyne.config.checks.catalogue import CHECKS
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.forms import Addition, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded, ReloadRow
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.supervisor.configured_replicas import local_replicas, remote_replicas
from heterodyne.supervisor.fleet.key_origins import check_key_origin
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import FleetMember, free_id, members, reconcile
from heterodyne.supervisor.fleet.replica_rows import replica_rows
from heterodyne.supervisor.fleet.settings_reload import merged_settings, needs_restart
from heterodyne.supervisor.workers.decision_client import DecisionClient
from heterodyne.supervisor.workers.order import WorkerPlaces
from heterodyne.supervisor.workers.workers import Workers
from heterodyne.telemetry import log

APPLY_TIMEOUT_S = 5.0  # a busy worker takes an order between two requests

_log = log.get("assembly")

Reread = Callable[[], Settings]
Fetch = Callable[[Settings], dict[str, Path]]


class FleetOwner:
    """One per supervisor. State changes between two awaits; what takes time runs in tasks of its own."""

    def __init__(
        self,
        began: Settings,
        settings: Settings,
        wanted: Sequence[FleetMember],
        *,
        run_dir: Path,
        reread: Reread,
        fetch: Fetch,
        places: WorkerPlaces,
        tenants: TenantSnapshot,
    ) -> None:
        """`began` is what was read at the start, `settings` the same with what the system chose, such as a port."""
        self.settings = settings
        self._began = began
        self._reread = reread
        self._fetch = fetch
        self._managed = {member.replica.id: ManagedReplica(member) for member in wanted}
        self.workers = Workers(settings, self._ordered(), run_dir, places, tenants)
        self.decisions = DecisionClient(run_dir, lambda: [one.name for one in self.workers.processes if one.is_running])
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._reloading = asyncio.Lock()
        self._last_reload: ReloadRow | None = None
        self.on_settings: Callable[[Settings], None] = _ignore_settings  # told of every reload

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin what is to run here; everything that follows is a child of the group."""
        self._group = group
        for managed in self._managed.values():
            managed.start(group)

    def close(self) -> None:
        """Change nothing more and end what runs here."""
        for task in self._tasks:
            task.cancel()
        for managed in self._managed.values():
            managed.cancel()

    def engines(self) -> dict[SupervisedProcess, str]:
        """The processes of replicas that were started here, and their models."""
        return {
            managed.process: managed.member.replica.model
            for managed in self._managed.values()
            if managed.process is not None
        }

    def page(self) -> FleetPage:
        """Everything an operator may want to see."""
        return FleetPage(
            version=self.workers.version,
            is_applied=self.workers.is_applied,
            workers=self.workers.rows(),
            replicas=replica_rows([managed.snapshot() for managed in self._managed.values()], self.workers.views()),
            reload=self._last_reload,
        )

    async def take_tenants(self, tenants: TenantSnapshot) -> bool:
        """Other tenants and keys for every worker; whether all of them work by it."""
        await self.workers.take_tenants(tenants)
        return await self.workers.wait_applied(self._publish(), APPLY_TIMEOUT_S)

    async def drain(self, selection: Selection) -> Changed:
        """Give them nothing new until told otherwise."""
        chosen = self._choose(selection)
        for managed in chosen:
            managed.is_drained = True
        return await self._changed(chosen)

    async def undrain(self, selection: Selection) -> Changed:
        """They may take work again."""
        chosen = self._choose(selection)
        for managed in chosen:
            managed.is_drained = False
        return await self._changed(chosen)

    async def restart(self, selection: Selection) -> Changed:
        """Restart what was started here, one replica after the other."""
        chosen = self._choose(selection)
        for managed in chosen:
            if managed.process is None:
                raise ChangeRefused(
                    f'"{managed.member.replica.id}" was not started here, so it cannot be restarted from here. '
                    "Drain it, restart it where it runs, and undrain it."
                )
            if managed.is_restarting:
                raise ChangeRefused(f'"{managed.member.replica.id}" is already being restarted.')
        self._spawn(self._restart_all(chosen), "restart")
        return Changed(
            version=self.workers.version,
            replicas=_ids(chosen),
            is_applied=self.workers.is_applied,
            note="They restart one after the other, each when its last answer is complete.",
        )

    async def add(self, addition: Addition) -> Changed:
        """One more replica by URL, until the next reload."""
        pool = self.settings.pools.get(addition.pool)
        if pool is None:
            raise unknown_name("pool", addition.pool, self.settings.pools)
        trial = structs.replace(
            self.settings,
            pools={**self.settings.pools, addition.pool: structs.replace(pool, urls=(*pool.urls, addition.url))},
        )
        problems = tuple(problem for check in CHECKS for problem in check(trial, os.environ))
        if problems:
            raise SettingsProblems(problems)
        if not addition.without_key:
            check_key_origin(addition.pool, pool, addition.url)
        described = [one for one in remote_replicas(trial) if one.pool == addition.pool][-1]
        place = (described.host, described.port, described.base_path)
        for managed in self._serving():
            known = managed.member.replica
            if known.pool == described.pool and (known.host, known.port, known.base_path) == place:
                raise ChangeRefused(f'{addition.url} is already in the fleet, as "{known.id}".')
        if addition.without_key:
            described = structs.replace(described, api_key_env=None)
        id = free_id(described.pool, self._managed, preferred=described.id)
        managed = ManagedReplica(FleetMember(replica=structs.replace(described, id=id), is_added=True))
        self._managed[id] = managed
        return await self._changed(
            [managed], note="It stays until the next reload; put it into the settings to keep it."
        )

    async def remove(self, selection: Selection) -> Changed:
        """Take them out of the fleet, when their last answers are complete, until the next reload."""
        chosen = self._choose(selection)
        for managed in chosen:
            managed.is_leaving = True
        self._spawn(self._retire(chosen, self._publish()), "remove")
        known = [managed.member.replica.id for managed in chosen if not managed.member.is_added]
        note = f"The settings still have {', '.join(known)}: the next reload or restart brings them back."
        return await self._changed(chosen, note=note if known else "")

    async def reload(self) -> Reloaded:
        """Read the settings again and work by them; bad ones are refused as a whole."""
        async with self._reloading:
            try:
                new, settings, wanted = await asyncio.to_thread(self._read)
            except HeterodyneError as error:
                problems = tuple(error.message.splitlines())
                for problem in problems:
                    _log.error("reload_refused", problem=problem)
                self._last_reload = ReloadRow(at=time.time(), is_good=False, problems=problems)
                raise
            lasting = needs_restart(self._began, new)
            self._last_reload = ReloadRow(at=time.time(), is_good=True, needs_restart=lasting)
            self.settings = settings
            self.on_settings(settings)
            return await self._move_to(wanted, lasting)

    def _read(self) -> tuple[Settings, Settings, tuple[FleetMember, ...]]:
        """In a thread: files are read, and weights fetched that are not here yet."""
        new = self._reread()
        settings = merged_settings(self.settings, new, os.environ)
        weights = self._fetch(settings)
        return new, settings, members(remote_replicas(settings), local_replicas(settings, weights))

    async def _move_to(self, wanted: Sequence[FleetMember], lasting: tuple[str, ...]) -> Reloaded:
        serving = [managed.member for managed in self._serving()]
        plan = reconcile(serving, wanted, taken=[id for id, managed in self._managed.items() if managed.is_leaving])
        for member in plan.retained:
            managed = self._managed[member.replica.id]
            managed.member, managed.is_superseded = member, False
        for member in plan.added:
            managed = self._managed[member.replica.id] = ManagedReplica(member)
            if self._group is not None:
                managed.start(self._group)
        going = [self._managed[member.replica.id] for member in plan.removed]
        coming = {member.replica.model for member in plan.added}
        for managed in going:
            managed.is_superseded = managed.member.replica.model in coming
            managed.is_leaving = not managed.is_superseded
        version = self._publish()
        self._spawn(self._retire([managed for managed in going if managed.is_leaving], version), "retire")
        if superseded := [managed for managed in going if managed.is_superseded]:
            self._spawn(self._supersede(superseded, plan.added), "supersede")
        dropped = tuple(member.replica.id for member in plan.removed if member.is_added)
        answer = Reloaded(
            version=version,
            is_applied=await self.workers.wait_applied(version, APPLY_TIMEOUT_S),
            started=tuple(member.replica.id for member in plan.added),
            stopped=tuple(member.replica.id for member in plan.removed),
            changed=plan.changed,
            dropped=dropped,
            needs_restart=lasting,
        )
        _log.info("reloaded", **structs.asdict(answer))
        for id in dropped:
            _log.warning("addition_dropped", replica=id, reason="the settings do not have it")
        for name in lasting:
            _log.warning("needs_a_restart", setting=name)
        return answer

    async def _supersede(self, old: Sequence[ManagedReplica], added: Sequence[FleetMember]) -> None:
        """Let the old ones leave once those that take their place are ready, or had their time to be."""
        models = {managed.member.replica.model for managed in old}
        successors = [member for member in added if member.replica.model in models]
        ids = [member.replica.id for member in successors]
        timeout_s = max(member.start_timeout_s for member in successors)
        if not await self.workers.wait_ready(ids, timeout_s):
            _log.warning("successors_not_ready", replicas=ids, waited_s=timeout_s)
        # Meanwhile another reload may have wanted them back, or an operator removed them.
        leaving = [managed for managed in old if managed.is_superseded and not managed.is_leaving]
        for managed in leaving:
            managed.is_leaving = True
        await self._retire(leaving, self._publish())

    async def _retire(self, leaving: Sequence[ManagedReplica], version: int) -> None:
        """Let them finish, each at its own pace, and forget them."""
        await asyncio.gather(*(self._retire_one(managed, version) for managed in leaving))

    async def _retire_one(self, managed: ManagedReplica, version: int) -> None:
        replica = managed.member.replica
        is_idle = await self.workers.wait_idle(replica.id, version, self.settings.gateway.drain_timeout_s)
        if self._managed.get(replica.id) is managed:
            del self._managed[replica.id]
        self._publish()
        await managed.stop()
        _log.info("replica_left", replica=replica.id, is_idle=is_idle)

    async def _restart_all(self, chosen: Sequence[ManagedReplica]) -> None:
        for managed in chosen:
            if not managed.is_leaving:
                await self._restart(managed)

    async def _restart(self, managed: ManagedReplica) -> None:
        process, replica = managed.process, managed.member.replica
        assert process is not None
        managed.is_restarting = True
        try:
            version = self._publish()
            is_idle = await self.workers.wait_idle(replica.id, version, self.settings.gateway.drain_timeout_s)
            _log.info("replica_restarts", replica=replica.id, is_idle=is_idle)
            await process.restart()
            async with deadline(managed.member.start_timeout_s):
                await process.started.wait()
                await self.workers.wait_ready([replica.id], managed.member.start_timeout_s)
        except TimeoutError:
            _log.error("replica_slow_to_restart", replica=replica.id, waited_s=managed.member.start_timeout_s)
        finally:
            managed.is_restarting = False
            self._publish()

    async def _changed(self, chosen: Iterable[ManagedReplica], note: str = "") -> Changed:
        version = self._publish()
        is_applied = await self.workers.wait_applied(version, APPLY_TIMEOUT_S)
        return Changed(version=version, replicas=_ids(chosen), is_applied=is_applied, note=note)

    def _publish(self) -> int:
        return self.workers.publish(self.settings, self._ordered())

    def _ordered(self) -> tuple[Replica, ...]:
        return tuple(managed.as_ordered() for managed in self._managed.values())

    def _serving(self) -> list[ManagedReplica]:
        return [managed for managed in self._managed.values() if not managed.is_leaving]

    def _choose(self, selection: Selection) -> list[ManagedReplica]:
        """The replicas that are meant; those on their way out cannot be."""
        serving = self._serving()
        if selection.replica is not None:
            chosen = [managed for managed in serving if managed.member.replica.id == selection.replica]
            if not chosen:
                raise unknown_name("replica", selection.replica, [managed.member.replica.id for managed in serving])
            return chosen
        chosen = [managed for managed in serving if managed.member.replica.pool == selection.pool]
        if not chosen:
            pools = dict.fromkeys(managed.member.replica.pool for managed in serving)
            raise unknown_name("pool", selection.pool or "", pools)
        return chosen

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        assert self._group is not None
        task = self._group.create_task(_rooted(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _ignore_settings(_: Settings) -> None:
    """Nobody has to know."""


async def _rooted(work: Coroutine[Any, Any, None], name: str) -> None:
    """The root of a task: our mistake must not end what serves."""
    try:
        await work
    except Exception as error:  # noqa: BLE001
        _log.error("change_failed", change=name, exc_info=error)


def _ids(chosen: Iterable[ManagedReplica]) -> tuple[ReplicaId, ...]:
    return tuple(managed.member.replica.id for managed in chosen)
