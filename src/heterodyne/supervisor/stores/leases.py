"""Who lends limits to this gateway's workers: Redis where several machines share it, else the state folder's keeper."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from heterodyne.ports.leases import LeaseKeeper
from heterodyne.stores.leases.folder import FolderLeases
from heterodyne.stores.redis.leases import RedisLeases
from heterodyne.telemetry.loops import run_periodically

TICK_S = 2.0  # how much of a day's counters a crash may forget


@asynccontextmanager
async def open_leases(redis_url: str | None, state_dir: Path, socket: Path) -> AsyncIterator[LeaseKeeper]:
    """Gateways on one state folder count together, and days and months survive in it; `socket` is where we lend."""
    if redis_url is not None:
        shared = RedisLeases(redis_url)
        try:
            yield shared
        finally:
            await shared.close()
        return
    own = FolderLeases(state_dir, socket)
    own.try_take()
    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(run_periodically("limits", own.tick, TICK_S), name="limits")
        try:
            yield own
        finally:
            ticking.cancel()
            await own.close()
