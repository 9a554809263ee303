"""Who lends limits to this gateway's workers: Redis where several gateways share it, else counters of our own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from heterodyne.ports.leases import LeaseKeeper
from heterodyne.stores.memory_leases import MemoryLeases, SavedCounter
from heterodyne.stores.redis_leases import RedisLeases
from heterodyne.telemetry import log

SAVE_INTERVAL_S = 5.0  # how much of a day's counters a crash may forget

_log = log.get("assembly")
_decode = msgspec.json.Decoder(tuple[SavedCounter, ...]).decode


@asynccontextmanager
async def open_leases(redis_url: str | None, path: Path) -> AsyncIterator[LeaseKeeper]:
    """The days of our own counters survive a restart in the file."""
    if redis_url is not None:
        shared = RedisLeases(redis_url)
        try:
            yield shared
        finally:
            await shared.close()
        return
    own = MemoryLeases()
    own.restore(await asyncio.to_thread(_read, path))
    async with asyncio.TaskGroup() as group:
        saving = group.create_task(_save_often(own, path))
        try:
            yield own
        finally:
            saving.cancel()
            await asyncio.to_thread(_write, path, own.snapshot())


async def _save_often(leases: MemoryLeases, path: Path) -> None:
    saved: tuple[SavedCounter, ...] = ()
    while True:
        await asyncio.sleep(SAVE_INTERVAL_S)
        if (now := leases.snapshot()) != saved:
            saved = now
            await asyncio.to_thread(_write, path, now)


def _read(path: Path) -> tuple[SavedCounter, ...]:
    try:
        return _decode(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.MsgspecError) as error:
        _log.error("limits_not_restored", file=str(path), error=str(error))
        return ()


def _write(path: Path, saved: tuple[SavedCounter, ...]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unready = path.with_suffix(".unready")
        unready.write_bytes(msgspec.json.encode(saved))
        unready.replace(path)
    except OSError as error:
        _log.error("limits_not_saved", file=str(path), error=str(error))
