"""Follows a cluster for every pool that is discovered in one, and says how that goes: metrics, log, alerts."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.fleet.kubernetes.access import ClusterAccess, service_account
from heterodyne.fleet.kubernetes.api import KubernetesApi
from heterodyne.fleet.kubernetes.kubeconfig import kubeconfig_access
from heterodyne.fleet.kubernetes.pool_discovery import DiscoveredPool, DiscoveryProblem, PoolDiscovery
from heterodyne.fleet.settings import FleetSettings, PoolSettings
from heterodyne.supervisor.fleet.cluster_pools import discovered_pools, scaled_pools
from heterodyne.supervisor.fleet.discovered_fleet import DiscoveredFleet
from heterodyne.supervisor.fleet.discovered_replicas import wanted_replicas
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.loops import keep_running

LOOK_S: Final = 1.0  # between looks at the settings, which a reload changes
PROBLEMS_MAX: Final = 50  # of a pool, in the log and on pages

_log = log.get("fleet")

Followed = tuple[PoolSettings, FleetSettings]


class DiscoverySeen(Struct, frozen=True, kw_only=True):
    """How far one pool's cluster is heard."""

    pool: str
    heard_at: float | None = None  # seconds since the epoch; None: never yet
    problems: tuple[DiscoveryProblem, ...] = ()


class DiscoveryWatch:
    """One per supervisor; belongs to one event loop."""

    def __init__(self, settings: Callable[[], Settings], fleet: DiscoveredFleet, run_dir: Path) -> None:
        self._settings = settings
        self._fleet = fleet
        self._run_dir = run_dir
        self._seen: dict[str, DiscoverySeen] = {}
        self._following: dict[str, tuple[Followed, asyncio.Task[None]]] = {}

    def snapshot(self) -> tuple[DiscoverySeen, ...]:
        """As of now, of every pool."""
        return tuple(self._seen.values())

    async def run(self) -> None:
        """Until cancelled; pools that a reload brings, changes or takes away are begun, begun anew and ended."""
        self._following = {}
        async with asyncio.TaskGroup() as group:
            while True:
                self._move(group, self._settings())
                await asyncio.sleep(LOOK_S)

    def _move(self, group: asyncio.TaskGroup, settings: Settings) -> None:
        wanted = {name: (pool, settings.fleet) for name, pool in discovered_pools(settings).items()}
        driven = {one.pool for one in scaled_pools(settings)}
        for name in self._seen.keys() - wanted.keys() - driven:
            self._forget(name)
        for name in [name for name, (followed, _) in self._following.items() if followed != wanted.get(name)]:
            self._following.pop(name)[1].cancel()
        for name, followed in wanted.items():
            if name not in self._following:
                run = partial(self._follow, name, *followed)
                task = group.create_task(keep_running(f"discovery {name}", run), name=f"discovery {name}")
                self._following[name] = followed, task

    async def _follow(self, name: str, pool: PoolSettings, fleet: FleetSettings) -> None:
        """By a client of its own, so that one pool's cluster cannot hold up another's."""
        api = KubernetesApi(partial(cluster_access, fleet, self._run_dir / f"cluster-{name}"))
        try:
            await PoolDiscovery(api, pool, resync_s=fleet.kubernetes_resync_s, on_found=partial(self._take, name)).run()
        finally:
            await api.close()

    def _take(self, name: str, found: DiscoveredPool) -> None:
        problems = found.problems
        if found.replicas is not None and name in discovered_pools(self._settings()):
            problems = (*problems, *self._fleet.take(name, found.replicas))
        self._note(name, found, problems)

    def tell(self, name: str, found: DiscoveredPool) -> None:
        """A driver follows this pool, and what is wrong with it is said as of all others."""
        problems, settings = found.problems, self._settings()
        if found.replicas is not None and name in settings.pools:
            problems = (*problems, *wanted_replicas(settings, name, found.replicas).problems)
        self._note(name, found, problems)

    def _note(self, name: str, found: DiscoveredPool, problems: tuple[DiscoveryProblem, ...]) -> None:
        before = self._seen.get(name, DiscoverySeen(pool=name))
        seen = DiscoverySeen(
            pool=name,
            heard_at=before.heard_at if found.heard_at is None else found.heard_at,
            problems=problems[:PROBLEMS_MAX],
        )
        self._seen[name] = seen
        _tell(before, seen)

    def _forget(self, name: str) -> None:
        seen = self._seen.pop(name, None)
        if seen is not None:
            metrics.discovery_heard.forget((name,))
            for kind in {one.kind for one in seen.problems}:
                metrics.discovery_problems.forget((name, kind))


def cluster_access(fleet: FleetSettings, folder: Path) -> ClusterAccess:
    """By the settings, or as the pod that we are; raises `SettingsInvalid`."""
    if fleet.kubeconfig is None:
        return service_account(os.environ)
    return kubeconfig_access(Path(fleet.kubeconfig).expanduser(), fleet.kubeconfig_context, folder)


def _tell(before: DiscoverySeen, seen: DiscoverySeen) -> None:
    """Once where a problem begins, and once where it ends."""
    if seen.heard_at is not None:
        metrics.discovery_heard.set((seen.pool,), seen.heard_at)
    counts = Counter(one.kind for one in seen.problems)
    for kind in {one.kind for one in before.problems} | set(counts):
        metrics.discovery_problems.set((seen.pool, kind), counts[kind])
    known, lasting = ({one.about for one in problems} for problems in (before.problems, seen.problems))
    for one in seen.problems:
        if one.about not in known:
            _log.warning("discovery_problem", pool=seen.pool, kind=one.kind, problem=one.text)
    for one in before.problems:
        if one.about not in lasting:
            _log.info("discovery_problem_over", pool=seen.pool, kind=one.kind, problem=one.text)
