"""Reads the settings again and moves the fleet to them; loses no stream on the way.

A replica that takes the place of another is ready before the other begins to leave.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.console.fleet.pages import Reloaded, ReloadRow
from heterodyne.domain.errors import HeterodyneError
from heterodyne.supervisor.configured_replicas import local_replicas, remote_replicas
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import FleetMember, members, reconcile
from heterodyne.supervisor.fleet.settings_reload import merged_settings, needs_restart
from heterodyne.telemetry import log

_log = log.get("assembly")

Reread = Callable[[], Settings]
Fetch = Callable[[Settings], dict[str, Path]]
OnSettings = Callable[[Settings, Mapping[str, Path]], None]  # with the weights of its pools


class FleetReload:
    """One per supervisor; one reload at a time."""

    def __init__(
        self,
        began: Settings,
        fleet: ManagedFleet,
        *,
        reread: Reread,
        fetch: Fetch,
        on_settings: OnSettings,
        discovered: Callable[[Settings], Sequence[FleetMember]] = lambda _: (),
    ) -> None:
        """`began` is what was read at the start; `on_settings` gets what every good reload has read."""
        self._began = began
        self._fleet = fleet
        self._reread = reread
        self._fetch = fetch
        self._on_settings = on_settings
        self._discovered = discovered
        self._reloading = asyncio.Lock()
        self.last: ReloadRow | None = None  # None: there was none yet

    async def reload(self) -> Reloaded:
        """Read the settings again and work by them; bad ones are refused as a whole."""
        async with self._reloading:
            try:
                new, settings, wanted, weights = await asyncio.to_thread(self._read)
            except HeterodyneError as error:
                problems = tuple(error.message.splitlines())
                for problem in problems:
                    _log.error("reload_refused", problem=problem)
                self.last = ReloadRow(at=time.time(), is_good=False, problems=problems)
                raise
            lasting = needs_restart(self._began, new)
            self.last = ReloadRow(at=time.time(), is_good=True, needs_restart=lasting)
            self._fleet.settings = settings
            self._on_settings(settings, weights)
            return await self._move_to((*wanted, *self._discovered(settings)), lasting)

    def _read(self) -> tuple[Settings, Settings, tuple[FleetMember, ...], Mapping[str, Path]]:
        """In a thread: files are read, and weights fetched that are not here yet."""
        new = self._reread()
        settings = merged_settings(self._fleet.settings, new, os.environ)
        weights = self._fetch(settings)
        return new, settings, members(remote_replicas(settings), local_replicas(settings, weights)), weights

    async def _move_to(self, wanted: Sequence[FleetMember], lasting: tuple[str, ...]) -> Reloaded:
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
            needs_restart=lasting,
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
