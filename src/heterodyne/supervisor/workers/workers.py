"""The gateway workers as the supervisor has them: orders go down their pipes, views come back as files."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.console.fleet.pages import WorkerRow
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.fleet import Health, ModelRule, Replica, ReplicaId, Wake
from heterodyne.domain.key_restriction import KeyRestriction
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.supervisor.configured_replicas import model_rules
from heterodyne.supervisor.workers.order import WorkerOrder, WorkerPlaces
from heterodyne.supervisor.workers.tenants_file import tenants_name, try_write_tenants
from heterodyne.supervisor.workers.view import ViewReader, WorkerView, remove_view
from heterodyne.telemetry import metrics
from heterodyne.telemetry.folded_meters import FoldedMeters

START_TIMEOUT_S = 30.0
STOP_SLACK_S = 3.0  # over the drain time a worker was granted
POLL_S = 0.05
# numpy would have a thread for every core, in every worker, for algebra that no worker does.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}


class Workers:
    """Every worker gets everything, every time; one that dies comes back with the latest. One per supervisor."""

    def __init__(
        self,
        settings: Settings,
        replicas: tuple[Replica, ...],
        run_dir: Path,
        places: WorkerPlaces,
        tenants: TenantSnapshot,
        *,
        module: str,
        splits: Mapping[str, RolloutSplit] | None = None,
        drops: tuple[CacheDrop, ...] = (),
    ) -> None:
        """`module` is what each of them runs; `splits` are those of rollouts, by model; `drops` of kept answers."""
        self.version = 1
        self.folded = FoldedMeters(run_dir, metrics.ALL)
        self._run_dir = run_dir
        self._views = ViewReader(run_dir)
        self._places = places
        self._settings, self._replicas = settings, replicas
        self.splits = dict(splits or {})  # other ones go with the next `publish`
        self.wakes: dict[str, Wake] = {}  # the same, of models that may have no replica
        self.restrictions: tuple[KeyRestriction, ...] = ()  # the same
        self.drops = drops  # these too
        self._tenants = tenants
        self._has_tenants_file = try_write_tenants(run_dir, tenants)
        self.processes = tuple(
            SupervisedProcess(
                name,
                module,
                self._order(name),
                start_timeout_s=START_TIMEOUT_S,
                stop_timeout_s=settings.gateway.drain_timeout_s + STOP_SLACK_S,
                on_exit=self._on_exit,
                environment=ENVIRONMENT,
            )
            for name in (f"worker-{index}" for index in range(settings.gateway.workers))
        )

    def publish(self, settings: Settings, replicas: tuple[Replica, ...]) -> int:
        """Another fleet for all of them; its version."""
        self.version += 1
        self._settings, self._replicas = settings, replicas
        for process in self.processes:
            process.stop_timeout_s = settings.gateway.drain_timeout_s + STOP_SLACK_S
            process.give(self._order(process.name))
        return self.version

    async def take_tenants(self, tenants: TenantSnapshot) -> None:
        """Other tenants with the next `publish`; where the disk does not take their file they travel in the orders."""
        has_file = await asyncio.to_thread(try_write_tenants, self._run_dir, tenants)
        self._tenants, self._has_tenants_file = tenants, has_file

    def running(self) -> list[str]:
        """The names of those that run."""
        return [process.name for process in self.processes if process.is_running]

    def views(self) -> tuple[WorkerView, ...]:
        """The last view of each worker that runs."""
        return tuple(view for process in self.processes if (view := self._try_view(process)) is not None)

    async def wait_applied(self, version: int, timeout_s: float) -> bool:
        """Wait until every worker works by this version; False when some do not in time."""
        return await _wait(lambda: self._is_applied(version), timeout_s)

    async def wait_idle(self, replica: ReplicaId, version: int, timeout_s: float) -> bool:
        """Wait until all workers work by this version and none has a request on the replica."""
        return await _wait(lambda: self._is_applied(version) and self._is_idle(replica), timeout_s)

    async def wait_ready(self, replicas: Iterable[ReplicaId], timeout_s: float) -> bool:
        """Wait until every worker has seen each of them ready."""
        wanted = frozenset(replicas)
        return await _wait(lambda: self._are_ready(wanted), timeout_s)

    @property
    def is_applied(self) -> bool:
        """Whether every worker works by the latest version."""
        return self._is_applied(self.version)

    def rows(self) -> tuple[WorkerRow, ...]:
        """The workers for the operator's page."""
        now_s = time.monotonic()
        rows = []
        for process in self.processes:
            view = self._try_view(process)
            rows.append(
                WorkerRow(
                    name=process.name,
                    pid=process.pid if process.is_running else None,
                    version=None if view is None else view.version,
                    seen_ago_s=None if view is None else round(now_s - view.at_s, 3),
                    in_flight=0 if view is None else view.in_flight,
                    restarts=process.restarts,
                    queued=0 if view is None else sum(view.queued_by_project.values()),
                )
            )
        return tuple(rows)

    def _is_applied(self, version: int) -> bool:
        """A worker that is not there works by nothing, and comes back with the latest."""
        for process in self.processes:
            if process.is_running:
                view = self._try_view(process)
                if view is None or view.version < version:
                    return False
        return True

    def _is_idle(self, replica: ReplicaId) -> bool:
        return not any(view.in_flight_by_replica.get(replica) for view in self.views())

    def _are_ready(self, wanted: frozenset[ReplicaId]) -> bool:
        views = self.views()
        return bool(views) and all(
            wanted <= {seen.id for seen in view.fleet.replicas if seen.health is Health.READY} for view in views
        )

    def _try_view(self, process: SupervisedProcess) -> WorkerView | None:
        if not process.is_running:
            return None
        view = self._views.try_read(process.name)
        return view if view is not None and view.pid == process.pid else None

    def _order(self, name: str) -> bytes:
        return msgspec.json.encode(
            WorkerOrder(
                name=name,
                settings=self._settings,
                replicas=self._replicas,
                rules=with_wakes(with_splits(model_rules(self._settings), self.splits), self.wakes),
                run_dir=str(self._run_dir),
                places=self._places,
                tenants=tenants_name(self._tenants),
                drops=self.drops,
                tenants_here=None if self._has_tenants_file else self._tenants,
                restrictions=self.restrictions,
                version=self.version,
            )
        )

    def _on_exit(self, name: str) -> None:
        self.folded.fold(name)
        remove_view(self._run_dir, name)
        if not (self._run_dir / tenants_name(self._tenants)).exists():  # the run folder was emptied
            self._has_tenants_file = try_write_tenants(self._run_dir, self._tenants)
            for process in self.processes:
                if process.name == name:
                    process.give(self._order(name))


def with_splits(rules: dict[str, ModelRule], splits: Mapping[str, RolloutSplit]) -> dict[str, ModelRule]:
    """The rules of models, with what rollouts say of them."""
    found = dict(rules)
    for model, split in splits.items():
        found[model] = structs.replace(rules.get(model, ModelRule()), split=split)
    return found


def with_wakes(rules: dict[str, ModelRule], wakes: Mapping[str, Wake]) -> dict[str, ModelRule]:
    """The rules of models, with when those will be ready that have no replica."""
    woken = {model: structs.replace(rules.get(model, ModelRule()), wake=wake) for model, wake in wakes.items()}
    return {**rules, **woken}


async def _wait(is_so: Callable[[], bool], timeout_s: float) -> bool:
    loop = asyncio.get_running_loop()
    until_s = loop.time() + timeout_s
    while not is_so():
        if loop.time() >= until_s:
            return False
        await asyncio.sleep(POLL_S)
    return True
