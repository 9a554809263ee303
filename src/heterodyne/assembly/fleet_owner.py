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

from heterodyne.assembly.fleet_page import replica_rows
from heterodyne.assembly.fleet_plan import Member, free_id, members, plan_change
from heterodyne.assembly.held_replica import HeldReplica
from heterodyne.assembly.key_origins import check_key_origin
from heterodyne.assembly.replicas import local_replicas, remote_replicas
from heterodyne.assembly.settings_change import effective, needs_restart
from heterodyne.assembly.worker_answers import WorkerAnswers
from heterodyne.assembly.worker_crew import WorkerCrew
from heterodyne.assembly.worker_order import WorkerPlaces
from heterodyne.concurrency.deadline import deadline
from heterodyne.config.checks import CHECKS
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings
from heterodyne.console.changes import Addition, Changed, Reloaded, Selection
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet_page import FleetPage, ReloadRow
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.fleet.supervised_process import SupervisedProcess
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
        wanted: Sequence[Member],
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
        self._held = {member.replica.id: HeldReplica(member) for member in wanted}
        self.crew = WorkerCrew(settings, self._ordered(), run_dir, places, tenants)
        self.decisions = WorkerAnswers(run_dir, lambda: [one.name for one in self.crew.processes if one.is_running])
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._reloading = asyncio.Lock()
        self._last_reload: ReloadRow | None = None
        self.on_settings: Callable[[Settings], None] = _unheard  # told of every reload

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin what is to run here; everything that follows is a child of the group."""
        self._group = group
        for held in self._held.values():
            held.start(group)

    def close(self) -> None:
        """Change nothing more and end what runs here."""
        for task in self._tasks:
            task.cancel()
        for held in self._held.values():
            held.cancel()

    def engines(self) -> dict[SupervisedProcess, str]:
        """The processes of replicas that were started here, and their models."""
        return {held.process: held.member.replica.model for held in self._held.values() if held.process is not None}

    def page(self) -> FleetPage:
        """Everything an operator may want to see."""
        return FleetPage(
            version=self.crew.version,
            is_applied=self.crew.is_applied,
            workers=self.crew.rows(),
            replicas=replica_rows([held.snapshot() for held in self._held.values()], self.crew.views()),
            reload=self._last_reload,
        )

    async def take_tenants(self, tenants: TenantSnapshot) -> bool:
        """Other tenants and keys for every worker; whether all of them work by it."""
        await self.crew.take_tenants(tenants)
        return await self.crew.wait_applied(self._publish(), APPLY_TIMEOUT_S)

    async def drain(self, selection: Selection) -> Changed:
        """Give them nothing new until told otherwise."""
        chosen = self._choose(selection)
        for held in chosen:
            held.is_drained = True
        return await self._changed(chosen)

    async def undrain(self, selection: Selection) -> Changed:
        """They may take work again."""
        chosen = self._choose(selection)
        for held in chosen:
            held.is_drained = False
        return await self._changed(chosen)

    async def restart(self, selection: Selection) -> Changed:
        """Restart what was started here, one replica after the other."""
        chosen = self._choose(selection)
        for held in chosen:
            if held.process is None:
                raise ChangeRefused(
                    f'"{held.member.replica.id}" was not started here, so it cannot be restarted from here. Drain it, '
                    "restart it where it runs, and undrain it."
                )
            if held.is_restarting:
                raise ChangeRefused(f'"{held.member.replica.id}" is already being restarted.')
        self._spawn(self._restart_all(chosen), "restart")
        return Changed(
            version=self.crew.version,
            replicas=_ids(chosen),
            is_applied=self.crew.is_applied,
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
        for held in self._serving():
            known = held.member.replica
            if known.pool == described.pool and (known.host, known.port, known.base_path) == place:
                raise ChangeRefused(f'{addition.url} is already in the fleet, as "{known.id}".')
        if addition.without_key:
            described = structs.replace(described, api_key_env=None)
        id = free_id(described.pool, self._held, preferred=described.id)
        held = HeldReplica(Member(replica=structs.replace(described, id=id), is_added=True))
        self._held[id] = held
        return await self._changed([held], note="It stays until the next reload; put it into the settings to keep it.")

    async def remove(self, selection: Selection) -> Changed:
        """Take them out of the fleet, when their last answers are complete, until the next reload."""
        chosen = self._choose(selection)
        for held in chosen:
            held.is_leaving = True
        self._spawn(self._retire(chosen, self._publish()), "remove")
        known = [held.member.replica.id for held in chosen if not held.member.is_added]
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

    def _read(self) -> tuple[Settings, Settings, tuple[Member, ...]]:
        """In a thread: files are read, and weights fetched that are not here yet."""
        new = self._reread()
        settings = effective(self.settings, new, os.environ)
        weights = self._fetch(settings)
        return new, settings, members(remote_replicas(settings), local_replicas(settings, weights))

    async def _move_to(self, wanted: Sequence[Member], lasting: tuple[str, ...]) -> Reloaded:
        serving = [held.member for held in self._serving()]
        plan = plan_change(serving, wanted, taken=[id for id, held in self._held.items() if held.is_leaving])
        for member in plan.stay:
            held = self._held[member.replica.id]
            held.member, held.is_superseded = member, False
        for member in plan.come:
            held = self._held[member.replica.id] = HeldReplica(member)
            if self._group is not None:
                held.start(self._group)
        going = [self._held[member.replica.id] for member in plan.go]
        coming = {member.replica.model for member in plan.come}
        for held in going:
            held.is_superseded = held.member.replica.model in coming
            held.is_leaving = not held.is_superseded
        version = self._publish()
        self._spawn(self._retire([held for held in going if held.is_leaving], version), "retire")
        if superseded := [held for held in going if held.is_superseded]:
            self._spawn(self._supersede(superseded, plan.come), "supersede")
        dropped = tuple(member.replica.id for member in plan.go if member.is_added)
        answer = Reloaded(
            version=version,
            is_applied=await self.crew.wait_applied(version, APPLY_TIMEOUT_S),
            started=tuple(member.replica.id for member in plan.come),
            stopped=tuple(member.replica.id for member in plan.go),
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

    async def _supersede(self, old: Sequence[HeldReplica], come: Sequence[Member]) -> None:
        """Let the old ones leave once those that take their place are ready, or had their time to be."""
        models = {held.member.replica.model for held in old}
        successors = [member for member in come if member.replica.model in models]
        ids = [member.replica.id for member in successors]
        timeout_s = max(member.start_timeout_s for member in successors)
        if not await self.crew.wait_ready(ids, timeout_s):
            _log.warning("successors_not_ready", replicas=ids, waited_s=timeout_s)
        # Meanwhile another reload may have wanted them back, or an operator removed them.
        leaving = [held for held in old if held.is_superseded and not held.is_leaving]
        for held in leaving:
            held.is_leaving = True
        await self._retire(leaving, self._publish())

    async def _retire(self, leaving: Sequence[HeldReplica], version: int) -> None:
        """Let them finish, each at its own pace, and forget them."""
        await asyncio.gather(*(self._retire_one(held, version) for held in leaving))

    async def _retire_one(self, held: HeldReplica, version: int) -> None:
        replica = held.member.replica
        is_idle = await self.crew.wait_idle(replica.id, version, self.settings.gateway.drain_timeout_s)
        if self._held.get(replica.id) is held:
            del self._held[replica.id]
        self._publish()
        await held.stop()
        _log.info("replica_left", replica=replica.id, is_idle=is_idle)

    async def _restart_all(self, chosen: Sequence[HeldReplica]) -> None:
        for held in chosen:
            if not held.is_leaving:
                await self._restart(held)

    async def _restart(self, held: HeldReplica) -> None:
        process, replica = held.process, held.member.replica
        assert process is not None
        held.is_restarting = True
        try:
            version = self._publish()
            is_idle = await self.crew.wait_idle(replica.id, version, self.settings.gateway.drain_timeout_s)
            _log.info("replica_restarts", replica=replica.id, is_idle=is_idle)
            await process.restart()
            async with deadline(held.member.start_timeout_s):
                await process.started.wait()
                await self.crew.wait_ready([replica.id], held.member.start_timeout_s)
        except TimeoutError:
            _log.error("replica_slow_to_restart", replica=replica.id, waited_s=held.member.start_timeout_s)
        finally:
            held.is_restarting = False
            self._publish()

    async def _changed(self, chosen: Iterable[HeldReplica], note: str = "") -> Changed:
        version = self._publish()
        is_applied = await self.crew.wait_applied(version, APPLY_TIMEOUT_S)
        return Changed(version=version, replicas=_ids(chosen), is_applied=is_applied, note=note)

    def _publish(self) -> int:
        return self.crew.tell(self.settings, self._ordered())

    def _ordered(self) -> tuple[Replica, ...]:
        return tuple(held.as_ordered() for held in self._held.values())

    def _serving(self) -> list[HeldReplica]:
        return [held for held in self._held.values() if not held.is_leaving]

    def _choose(self, selection: Selection) -> list[HeldReplica]:
        """The replicas that are meant; those on their way out cannot be."""
        serving = self._serving()
        if selection.replica is not None:
            chosen = [held for held in serving if held.member.replica.id == selection.replica]
            if not chosen:
                raise unknown_name("replica", selection.replica, [held.member.replica.id for held in serving])
            return chosen
        chosen = [held for held in serving if held.member.replica.pool == selection.pool]
        if not chosen:
            pools = dict.fromkeys(held.member.replica.pool for held in serving)
            raise unknown_name("pool", selection.pool or "", pools)
        return chosen

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        assert self._group is not None
        task = self._group.create_task(_rooted(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _unheard(_: Settings) -> None:
    """Nobody has to know."""


async def _rooted(work: Coroutine[Any, Any, None], name: str) -> None:
    """The root of a task: our mistake must not end what serves."""
    try:
        await work
    except Exception as error:  # noqa: BLE001
        _log.error("change_failed", change=name, exc_info=error)


def _ids(chosen: Iterable[HeldReplica]) -> tuple[ReplicaId, ...]:
    return tuple(held.member.replica.id for held in chosen)
