"""Makes the signals that alerts are judged by: from the history of the books, the fleet, and what workers count."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from heterodyne.alerts.signals import (
    AbuseSignals,
    AuditSignals,
    BooksSignals,
    CertificateSignals,
    DiscoverySignals,
    DriftSignals,
    LimitSignals,
    ModelSignals,
    PoolSignals,
    PredictionSignals,
    QueueSignals,
    ReplicaSignals,
    Signals,
)
from heterodyne.audit.audit_writer import AuditWriterState
from heterodyne.books.collector import CollectorState
from heterodyne.concurrency.deadline import deadline
from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition, ReplicaRow
from heterodyne.console.scaling.pages import ScalingPage
from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.control.drift_watch import DriftSeen
from heterodyne.domain.errors import HeterodyneError
from heterodyne.supervisor.alerts.history import AlertHistory, HistorySource
from heterodyne.supervisor.alerts.recent_samples import RecentSamples
from heterodyne.supervisor.certificates import CertificateSeen
from heterodyne.supervisor.fleet.discovery import DiscoverySeen
from heterodyne.supervisor.scaling.signals import scaled_models, scaled_pools
from heterodyne.telemetry import exposition, log, metrics

READ_TIMEOUT_S = 10.0
DEPTH_BEFORE_S = 300.0

_WORKERS = "workers"  # names of counters beside those of replicas
_DAMAGED = "damaged"
_FAILURES = "failures"
_GUARDS = "guards"

_log = log.get("alerts")

LimitUses = Callable[[], Awaitable[Sequence[LimitUse]]]


class WorkerCounts(Struct, frozen=True, kw_only=True):
    """Of all workers together."""

    queue_depths: dict[str, float]  # requests that wait here for their turn, by model
    guard_failures: float  # since they began
    reports_away: bool  # the store of reports does not answer one of them


class SignalMaker:
    """One per supervisor; belongs to one event loop."""

    def __init__(
        self,
        *,
        history: HistorySource,
        run_dir: Path,
        page: Callable[[], FleetPage | None],
        books: Callable[[], CollectorState | None],
        audit: Callable[[], AuditWriterState | None],
        limits: LimitUses | None = None,
        drifts: Callable[[], Sequence[DriftSeen]] = tuple,
        abuse: Callable[[], tuple[AbuseSignals, ...]] = tuple,
        certificates: Callable[[], Sequence[CertificateSeen]] = tuple,
        discoveries: Callable[[], Sequence[DiscoverySeen]] = tuple,
        scaling: Callable[[], ScalingPage] | None = None,
    ) -> None:
        """`limits` gives those of organisations and projects that are used most; without it there are none."""
        self._history = AlertHistory(history)
        self._run_dir = run_dir
        self._page = page
        self._books = books
        self._audit = audit
        self._limits = limits
        self._drifts = drifts
        self._abuse = abuse
        self._certificates = certificates
        self._discoveries = discoveries
        self._scaling = scaling
        self._depths = RecentSamples()
        self._counters = RecentSamples()

    async def make(self, now: float) -> Signals:
        """Everything at one moment; what cannot be read is None."""
        models, predictions = await self._from_history(now)
        page, books, audit = self._page(), self._books(), self._audit()
        counted = await self._counted()
        scaling = None if self._scaling is None else self._scaling()
        self._counters.note(now, _counters(page, books, audit, counted))
        grown = self._counters.growth
        return Signals(
            at=now,
            models=models,
            predictions=predictions,
            queues=None if counted is None else self._queues(counted, now),
            pools=None if page is None else pools_of(page),
            replicas=None if page is None else _replicas(page, grown),
            drifts=tuple(
                DriftSignals(replica=one.replica, kl_nats=one.kl_nats)
                for one in self._drifts()
                if one.kl_nats is not None
            ),
            abuse=self._abuse(),
            certificates=tuple(
                CertificateSignals(setting=one.setting, ends_at=one.ends_at) for one in self._certificates()
            ),
            discoveries=tuple(DiscoverySignals(pool=one.pool, heard_at=one.heard_at) for one in self._discoveries()),
            scaled_models=None if scaling is None else scaled_models(scaling),
            scaled_pools=None if scaling is None else scaled_pools(scaling),
            settings_apart=None if page is None else page.settings.apart,
            reports_away=None if counted is None else counted.reports_away,
            guard_failures=None if counted is None else grown(_GUARDS),
            worker_restarts=None if page is None else grown(_WORKERS),
            books=None if books is None else _books_of(books, grown(_DAMAGED)),
            audit=None if audit is None else AuditSignals(problem=audit.failure, failures=grown(_FAILURES)),
            limits=await self._limit_signals(),
        )

    def worker_restarts(self) -> int:
        """Of all the gateway's workers, since the supervisor began."""
        page = self._page()
        return 0 if page is None else sum(row.restarts for row in page.workers)

    async def _from_history(
        self, now: float
    ) -> tuple[tuple[ModelSignals, ...] | None, tuple[PredictionSignals, ...] | None]:
        try:
            async with deadline(READ_TIMEOUT_S):
                return await self._history.read(now)
        except (HeterodyneError, TimeoutError) as error:
            _log.warning("alerts_without_history", error=str(error) or type(error).__name__)
            return None, None

    async def _counted(self) -> WorkerCounts | None:
        try:
            return await asyncio.to_thread(worker_counts, self._run_dir)
        except OSError as error:
            _log.warning("alerts_without_queues", error=str(error))
            return None

    def _queues(self, counted: WorkerCounts, now: float) -> tuple[QueueSignals, ...]:
        depths = counted.queue_depths
        self._depths.note(now, depths)
        before = self._depths.at(now - DEPTH_BEFORE_S)
        return tuple(
            QueueSignals(model=model, depth=depth, depth_before=None if before is None else before.get(model, 0.0))
            for model, depth in depths.items()
        )

    async def _limit_signals(self) -> tuple[LimitSignals, ...] | None:
        if self._limits is None:
            return ()
        try:
            async with deadline(READ_TIMEOUT_S):
                uses = await self._limits()
        except (HeterodyneError, TimeoutError) as error:
            _log.warning("alerts_without_limits", error=str(error) or type(error).__name__)
            return None
        return tuple(
            LimitSignals(level=use.level, limit=use.limit_name, ratio=use.used / use.limit) for use in uses if use.limit
        )


def worker_counts(run_dir: Path) -> WorkerCounts:
    """What the workers have counted."""
    place, failures, is_away = metrics.queue_depth.labels.index("model"), 0.0, False
    depths: dict[str, float] = {}
    for sample in exposition.gather(run_dir, "", ()):
        if sample.meter == metrics.queue_depth.name:
            depths[sample.labels[place]] = depths.get(sample.labels[place], 0.0) + sample.values[0]
        elif sample.meter == metrics.guard_failures.name:
            failures += sample.values[0]
        elif sample.meter == metrics.reports_away.name:
            is_away = is_away or sample.values[0] > 0.0
    return WorkerCounts(queue_depths=depths, guard_failures=failures, reports_away=is_away)


def pools_of(page: FleetPage) -> tuple[PoolSignals, ...]:
    """Each pool, of what its replicas are now."""
    by_pool: dict[str, list[ReplicaRow]] = defaultdict(list)
    for row in page.replicas:
        by_pool[row.pool].append(row)
    return tuple(_pool(pool, rows) for pool, rows in by_pool.items())


def _pool(pool: str, rows: list[ReplicaRow]) -> PoolSignals:
    ready = [row for row in rows if row.state is ReplicaCondition.READY]
    rooms = [one.in_flight_limit for row in ready for one in row.workers if one.in_flight_limit is not None]
    loads = [row.load for row in ready if row.load is not None]
    shares = [load.kv_share for load in loads if load.kv_share is not None]
    return PoolSignals(
        pool=pool,
        ready=len(ready),
        down=sum(row.state is ReplicaCondition.DOWN for row in rows),
        wanted=sum(row.state in (ReplicaCondition.DOWN, ReplicaCondition.RESTARTING) for row in rows),
        starting=sum(row.state is ReplicaCondition.STARTING for row in rows),
        in_flight=sum(row.in_flight for row in ready),
        in_flight_max=sum(rooms) if rooms else None,
        running=_sum(load.running for load in loads),
        waiting=_sum(load.waiting for load in loads),
        kv_share=sum(shares) / len(shares) if shares else None,
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _counters(
    page: FleetPage | None, books: CollectorState | None, audit: AuditWriterState | None, counted: WorkerCounts | None
) -> dict[str, float]:
    found: dict[str, float] = {}
    if counted is not None:
        found[_GUARDS] = counted.guard_failures
    if page is not None:
        found[_WORKERS] = sum(row.restarts for row in page.workers)
        found.update({_replica(row.id): row.restarts for row in page.replicas})
    if books is not None:
        found[_DAMAGED] = books.damaged
    if audit is not None:
        found[_FAILURES] = audit.failures
    return found


def _replica(id: str) -> str:
    return f"replica {id}"


def _replicas(page: FleetPage, grown: Callable[[str], int]) -> tuple[ReplicaSignals, ...]:
    return tuple(
        ReplicaSignals(
            replica=row.id,
            is_ejected=any(one.ejected_for_s is not None for one in row.workers),
            restarts=grown(_replica(row.id)),
        )
        for row in page.replicas
    )


def _books_of(state: CollectorState, damaged: int) -> BooksSignals:
    filled = state.backlog_bytes / state.backlog_bytes_max if state.backlog_bytes_max else 0.0
    return BooksSignals(problem=state.problem, filled=filled, damaged=damaged)
