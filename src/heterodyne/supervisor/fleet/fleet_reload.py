"""Reads the settings again and moves the fleet to them, and back; loses no stream on the way.

A replica that takes the place of another is ready before the other begins to leave. Reading and moving are two steps,
so that gateways can agree between them.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from heterodyne.config.settings import Settings
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.pages import Reloaded, ReloadRow
from heterodyne.domain.errors import HeterodyneError
from heterodyne.supervisor.configured_replicas import local_replicas, remote_replicas
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import FleetMember, members, reconcile
from heterodyne.supervisor.fleet.settings_reload import merged_settings, needs_restart
from heterodyne.supervisor.fleet.settings_version import SettingsVersion, version_of
from heterodyne.telemetry import log, metrics

_log = log.get("assembly")

Reread = Callable[[], Settings]
Fetch = Callable[[Settings], dict[str, Path]]
OnSettings = Callable[[Settings, Mapping[str, Path]], None]  # with the weights of its pools


class PreparedReload(Struct, frozen=True, kw_only=True, eq=False):
    """Settings that were read and found good, with everything that moving to them takes."""

    settings: Settings  # with what lasts as it runs
    wanted: tuple[FleetMember, ...]
    weights: Mapping[str, Path]  # on this machine
    version: SettingsVersion
    needs_restart: tuple[str, ...] = ()


class FleetReload:
    """One per supervisor; one reload at a time."""

    def __init__(
        self,
        began: Settings,
        fleet: ManagedFleet,
        *,
        wanted: Sequence[FleetMember],
        weights: Mapping[str, Path],
        reread: Reread,
        fetch: Fetch,
        on_settings: OnSettings,
        discovered: Callable[[Settings], Sequence[FleetMember]] = lambda _: (),
    ) -> None:
        """`began` is what was read at the start, with what the fleet then had; `on_settings` gets what every good
        reload has read."""
        self._began = began
        self._fleet = fleet
        self._reread = reread
        self._fetch = fetch
        self._on_settings = on_settings
        self._discovered = discovered
        self._reloading = asyncio.Lock()
        self._now = PreparedReload(
            settings=fleet.settings, wanted=tuple(wanted), weights=weights, version=version_of(fleet.settings)
        )
        self._before: PreparedReload | None = None  # None: there is nothing to go back to
        self.last: ReloadRow | None = None  # None: there was none yet
        self._show(self._now)

    @property
    def version(self) -> SettingsVersion:
        """What this gateway works by."""
        return self._now.version

    async def reload(self) -> Reloaded:
        """Read the settings again and work by them; bad ones are refused as a whole."""
        async with self._reloading:
            prepared = await self._prepare()
            answer = await self._apply(prepared)
            self._hold(prepared)
            return answer

    async def prepare(self, *, awaits_workers: bool = True) -> PreparedReload:
        """Settings that could be worked by at once; bad ones are refused, and so are any by workers that are late."""
        async with self._reloading:
            prepared = await self._prepare()
            if awaits_workers and not await self._fleet.wait_applied(self._fleet.workers.version):
                raise ChangeRefused("A worker does not yet work by the settings before.")
            return prepared

    async def take(self, prepared: PreparedReload) -> Reloaded:
        """Work by them, as every worker has said then; raises ChangeRefused where one has not in time."""
        async with self._reloading:
            try:
                answer = await self._apply(prepared)
                if not answer.is_applied:
                    raise ChangeRefused("A worker did not take the new settings in time.")
            except Exception as error:
                _log.error("reload_not_taken", exc_info=error)
                metrics.reloads.add(("failed",))
                await self._apply(self._now)
                if isinstance(error, ChangeRefused):
                    raise
                raise ChangeRefused(
                    f"The new settings could not be taken ({type(error).__name__}); its log says more."
                ) from error
            self._hold(prepared)
            return answer

    async def undo(self) -> None:
        """Work by what held before the last one that was taken."""
        async with self._reloading:
            if self._before is not None:
                await self._apply(self._before)
                self._now, self._before = self._before, None
                metrics.reloads.add(("undone",))
                self._show(self._now)

    def note_refused(self, problem: str) -> None:
        """Another gateway would not take what was read here."""
        _log.error("reload_refused", problem=problem)
        self.last = ReloadRow(at=time.time(), is_good=False, problems=(problem,))

    def _hold(self, prepared: PreparedReload) -> None:
        self._before, self._now = self._now, prepared
        metrics.reloads.add(("taken",))
        self._show(prepared)

    def _show(self, held: PreparedReload) -> None:
        for (version,) in {sample.labels for sample in metrics.settings_info.samples()}:
            metrics.settings_info.forget((version,))
        metrics.settings_info.set((held.version.word,), 1.0)

    async def _prepare(self) -> PreparedReload:
        try:
            return await asyncio.to_thread(self._read)
        except HeterodyneError as error:
            metrics.reloads.add(("refused",))
            problems = tuple(error.message.splitlines())
            for problem in problems:
                _log.error("reload_refused", problem=problem)
            self.last = ReloadRow(at=time.time(), is_good=False, problems=problems)
            raise

    def _read(self) -> PreparedReload:
        """In a thread: files are read, and weights fetched that are not here yet."""
        new = self._reread()
        settings = merged_settings(self._fleet.settings, new, os.environ)
        weights = self._fetch(settings)
        return PreparedReload(
            settings=settings,
            wanted=members(remote_replicas(settings), local_replicas(settings, weights)),
            weights=weights,
            version=version_of(settings),
            needs_restart=needs_restart(self._began, new),
        )

    async def _apply(self, prepared: PreparedReload) -> Reloaded:
        settings = prepared.settings
        self.last = ReloadRow(at=time.time(), is_good=True, needs_restart=prepared.needs_restart)
        self._fleet.settings = settings
        self._on_settings(settings, prepared.weights)
        return await self._move_to(prepared, (*prepared.wanted, *self._discovered(settings)))

    async def _move_to(self, prepared: PreparedReload, wanted: Sequence[FleetMember]) -> Reloaded:
        fleet = self._fleet
        serving = [managed.member for managed in fleet.serving() if not managed.member.is_driven]
        others = [one.member.replica.id for one in fleet.replicas if one.is_leaving or one.member.is_driven]
        plan = reconcile(serving, wanted, taken=others)
        for member in plan.retained:
            managed = fleet.of(member.replica.id)
            managed.member, managed.is_superseded = member, False
        for member in plan.added:
            fleet.add(ManagedReplica(member))
        going = [fleet.of(member.replica.id) for member in plan.removed]
        coming = {member.replica.model for member in plan.added}
        for managed in going:
            managed.is_superseded = managed.member.replica.model in coming
            managed.is_leaving = not managed.is_superseded
        version = fleet.publish()
        fleet.spawn(fleet.retire([managed for managed in going if managed.is_leaving], version), "retire")
        if superseded := [managed for managed in going if managed.is_superseded]:
            fleet.spawn(self._supersede(superseded, plan.added), "supersede")
        answer = Reloaded(
            version=version,
            is_applied=await fleet.wait_applied(version),
            started=tuple(member.replica.id for member in plan.added),
            stopped=tuple(member.replica.id for member in plan.removed),
            changed=plan.changed,
            dropped=tuple(member.replica.id for member in plan.removed if member.is_added),
            needs_restart=prepared.needs_restart,
            settings=prepared.version.word,
        )
        _log_reload(answer)
        return answer

    async def _supersede(self, old: Sequence[ManagedReplica], added: Sequence[FleetMember]) -> None:
        """Let the old ones leave once those that take their place are ready, or had their time to be."""
        models = {managed.member.replica.model for managed in old}
        successors = [member for member in added if member.replica.model in models]
        ids = [member.replica.id for member in successors]
        timeout_s = max(member.start_timeout_s for member in successors)
        if not await self._fleet.workers.wait_ready(ids, timeout_s):
            _log.warning("successors_not_ready", replicas=ids, waited_s=timeout_s)
        # Meanwhile another reload may have wanted them back, or an operator removed them.
        leaving = [managed for managed in old if managed.is_superseded and not managed.is_leaving]
        for managed in leaving:
            managed.is_leaving = True
        await self._fleet.retire(leaving, self._fleet.publish())


def _log_reload(answer: Reloaded) -> None:
    _log.info("reloaded", **structs.asdict(answer))
    for id in answer.dropped:
        _log.warning("addition_dropped", replica=id, reason="the settings do not have it")
    for name in answer.needs_restart:
        _log.warning("needs_a_restart", setting=name)
