"""What the supervisor alone can measure: the fleet it owns, the devices below it, money, limits and batches.

Money, limits and batches are asked of the stores now and then and kept in between; a store that is away leaves the
last word.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from heterodyne.batches.batch import Batch
from heterodyne.batches.listing import open_batches
from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.control.accelerator_watch import AcceleratorWatch
from heterodyne.control.drift_watch import DriftWatch
from heterodyne.domain.usage import IdleRow, UsageGroup, UsageQuery, UsageRow
from heterodyne.ports.books import BookStore
from heterodyne.ports.document_store import DocumentStore
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.meters.batches import batch_samples
from heterodyne.supervisor.meters.fleet import LIMITS_MAX, FleetMeters, TokenCost
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.telemetry.loops import keep_running, run_periodically
from heterodyne.telemetry.meters import Sample

INTERVAL_S = 15.0
BATCHES_MAX = 200
MICRO = 1_000_000


class SupervisorMeters:
    """One per supervisor."""

    def __init__(
        self,
        owner: FleetOwner,
        books: BookStore,
        tenants: TenantUsageReader,
        drifts: DriftWatch,
        documents: DocumentStore,
        *,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._books = books
        self._tenants = tenants
        self._documents = documents
        self._wall_clock = wall_clock
        self._costs: Sequence[TokenCost] = ()
        self._limits: Sequence[LimitUse] = ()
        self._batches: Sequence[Batch] | None = None  # None: not known yet
        self._accelerators = AcceleratorWatch(lambda: owner.settings.pools)
        self._fleet = FleetMeters(
            owner.page,
            lambda: owner.settings.pools,
            devices=self._accelerators.snapshot,
            drifts=drifts.snapshot,
            costs=lambda: self._costs,
            limits=lambda: self._limits,
        )

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_running("accelerators", self._accelerators.run), name="accelerators")
            group.create_task(run_periodically("costs", self._refresh, INTERVAL_S), name="costs")

    def samples(self) -> list[Sample]:
        """Everything, as of now."""
        return [*self._fleet.samples(), *(() if self._batches is None else batch_samples(self._batches))]

    async def _refresh(self) -> None:
        day = datetime.fromtimestamp(self._wall_clock(), UTC).date().isoformat()
        used = await self._books.usage(UsageQuery(by=(UsageGroup.POOL, UsageGroup.HARDWARE), since=day))
        self._costs = token_costs(used, await self._books.idle(day, None))
        self._limits = await self._tenants.limit_use(LIMITS_MAX)
        found = await open_batches(self._documents, self._wall_clock(), BATCHES_MAX)
        self._batches = [one.batch for one in found]


def token_costs(used: Sequence[UsageRow], paid: Sequence[IdleRow]) -> tuple[TokenCost, ...]:
    """Of the same day. What is paid by the token has no idle time: it costs what was used."""
    usd_paid = {(row.pool, row.hardware): row.paid_usd_micro / MICRO for row in paid}
    costs = []
    for row in used:
        pool, hardware = row.group[UsageGroup.POOL], row.group[UsageGroup.HARDWARE]
        usd_busy = row.usd_micro / MICRO
        whole = max(usd_busy, usd_paid.get((pool, hardware), 0.0))
        is_priced = whole > 0
        costs.append(
            TokenCost(
                pool=pool,
                hardware=hardware,
                tokens=row.prompt_tokens + row.completion_tokens,
                usd_busy=usd_busy if is_priced else None,
                usd_paid=whole if is_priced else None,
            )
        )
    return tuple(costs)
