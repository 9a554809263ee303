"""The supervisor's books: collects what workers spool, and counts the hours that replicas are paid for."""

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from heterodyne.books.collector import Collector, CollectorState
from heterodyne.books.recover import Answered, none_answered
from heterodyne.books.settings import BookSettings, spool_folder_of
from heterodyne.books.uptime import RunningReplica, UptimeMeter
from heterodyne.concurrency.deadline import deadline
from heterodyne.console.fleet.pages import FleetPage, ReplicaRow
from heterodyne.console.live.recent_activity import SPARK_MINUTES, RecentActivity
from heterodyne.domain.errors import HeterodyneError, StoreUnavailable
from heterodyne.domain.fleet import Health
from heterodyne.domain.history import MINUTE_S, HistoryGroup, HistoryQuery
from heterodyne.ports.books import BookStore
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import keep_running, run_periodically

UPTIME_INTERVAL_S = 30.0
FINISH_TIMEOUT_S = 10.0  # what is not collected by then is collected at the next start

_log = log.get("assembly")


class SupervisorBooks:
    """One per supervisor, where books are kept."""

    def __init__(
        self,
        settings: BookSettings,
        state_dir: Path,
        store: BookStore,
        recent_activity: RecentActivity,
        answered: Answered = none_answered,
    ) -> None:
        """`answered` knows what lines of batches were given."""
        self.spool_folder = spool_folder_of(settings, state_dir)
        self._store = store
        self._recent_activity = recent_activity
        self._collector = Collector(
            self.spool_folder,
            store,
            retention_days=settings.retention_days or None,
            bytes_max=settings.spool_bytes_max,
            history_days=settings.history_days,
            on_added=recent_activity.on_added,
            answered=answered,
        )
        self._meter = UptimeMeter(secrets.token_hex(8))

    @property
    def state(self) -> CollectorState:
        """How collecting stands."""
        return self._collector.state

    async def open(self) -> None:
        """Make the folder, which is the owner's alone, and recall the last half hour."""
        try:
            await asyncio.to_thread(self.spool_folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"{self.spool_folder}: no folder for usage: {error.strerror}") from error
        now = time.time()
        since_at = now - SPARK_MINUTES * MINUTE_S
        query = HistoryQuery(since_at=since_at, until_at=now, by=(HistoryGroup.POOL,))
        self._recent_activity.seed(await self._store.history(query))

    async def run(self, page: Callable[[], FleetPage]) -> None:
        """Until cancelled; `page` shows the fleet."""

        async def note_uptime() -> None:
            await self.note_up(page().replicas)  # sums: the next have a lost one in them

        async with asyncio.TaskGroup() as group:
            group.create_task(keep_running("collector", self._collector.run), name="collector")
            group.create_task(run_periodically("uptime", note_uptime, UPTIME_INTERVAL_S), name="uptime")

    async def note_up(self, replicas: Iterable[ReplicaRow]) -> None:
        """Count the time since the last call for those that were up then, and keep the sums."""
        up = [
            RunningReplica(row.pool, row.hardware or "", row.price.usd_per_hour)
            for row in replicas
            if row.health is Health.READY and row.price.usd_per_hour is not None
        ]
        self._meter.tick(time.time(), up)
        if uptimes := self._meter.uptimes():
            await self._store.add_uptime(uptimes)

    async def finish(self) -> None:
        """A last time, after the workers have ended."""
        try:
            async with deadline(FINISH_TIMEOUT_S):
                await self.note_up(())
                await self._collector.collect()
        except (HeterodyneError, OSError) as error:  # TimeoutError is among them
            _log.warning("usage_left_in_the_spool", folder=str(self.spool_folder), error=str(error))
