"""Reads the devices of every pool whose settings say where their metrics are. The supervisor has one such watch."""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from heterodyne.control.engine_fetch import get
from heterodyne.domain.errors import EngineError, EngineRefused
from heterodyne.engines.accelerators.catalogue import read_devices
from heterodyne.engines.accelerators.device import DeviceReading
from heterodyne.fleet.settings import PoolSettings
from heterodyne.telemetry import log
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool

INTERVAL_S = 10.0
TIMEOUT_S = 5.0  # of each page; an exporter that asks a driver takes its time
PAGES_AT_ONCE = 16
DEVICES_MAX = 64  # of a pool
PATH = "/metrics"  # where a URL has none

_log = log.get("control")


class DeviceSeen(Struct, frozen=True, kw_only=True):
    """One device of a pool, as it was read last."""

    pool: str
    hardware: str  # of the pool's settings; empty: they do not say
    device: str  # host:port/number, as no host needs to know of another's devices
    exporter: str
    reading: DeviceReading


class AcceleratorsSeen(Struct, frozen=True, kw_only=True):
    """All devices. A page that could not be read has none, and a problem instead."""

    devices: tuple[DeviceSeen, ...] = ()
    problems: dict[str, str] = {}  # by the setting that names the page
    left_out: dict[str, int] = {}  # by pool, devices past the most that are kept


class _Page(NamedTuple):
    pool: str
    hardware: str
    setting: str
    url: str


class AcceleratorWatch:
    """One per supervisor; `pools` gives the settings of the moment, so that a reload is heeded."""

    def __init__(self, pools: Callable[[], Mapping[str, PoolSettings]], *, interval_s: float = INTERVAL_S) -> None:
        self._pools = pools
        self._interval_s = interval_s
        self._seen = AcceleratorsSeen()

    def snapshot(self) -> AcceleratorsSeen:
        """What was read last."""
        return self._seen

    async def run(self) -> None:
        """Until cancelled."""
        pool = ConnectionPool(asyncio.get_running_loop(), idle_max=1, connect_timeout_s=TIMEOUT_S)
        try:
            while True:
                try:
                    await self._look(pool)
                except Exception as error:  # noqa: BLE001  # the root of a look: our mistake must not end what serves
                    _log.error("accelerators_not_read", exc_info=error)
                await asyncio.sleep(self._interval_s)
        finally:
            await pool.close()

    async def _look(self, connections: ConnectionPool) -> None:
        pages = _pages(self._pools())
        connections.forget({_address(page.url) for page in pages})
        turns = asyncio.Semaphore(PAGES_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_read(connections, page, turns)) for page in pages]
        devices: dict[str, list[DeviceSeen]] = {}
        problems: dict[str, str] = {}
        for page, task in zip(pages, tasks, strict=True):
            found = task.result()
            if isinstance(found, str):
                problems[page.setting] = found
            else:
                devices.setdefault(page.pool, []).extend(found)
        self._tell(problems)
        self._seen = AcceleratorsSeen(
            devices=tuple(one for those in devices.values() for one in those[:DEVICES_MAX]),
            problems=problems,
            left_out={pool: len(those) - DEVICES_MAX for pool, those in devices.items() if len(those) > DEVICES_MAX},
        )

    def _tell(self, problems: Mapping[str, str]) -> None:
        """Once for every change."""
        before = self._seen.problems
        for setting, problem in problems.items():
            if before.get(setting) != problem:
                _log.warning("accelerators_unread", setting=setting, error=problem)
        for setting in before:
            if setting not in problems:
                _log.info("accelerators_read", setting=setting)


def _pages(pools: Mapping[str, PoolSettings]) -> list[_Page]:
    return [
        _Page(name, pool.hardware or "", f"pools.{name}.accelerator_metrics_urls[{index}]", url)
        for name, pool in pools.items()
        for index, url in enumerate(pool.accelerator_metrics_urls)
    ]


async def _read(connections: ConnectionPool, page: _Page, turns: asyncio.Semaphore) -> list[DeviceSeen] | str:
    """The devices of a page, or why there are none."""
    address = _address(page.url)
    try:
        async with turns:
            path = urlsplit(page.url).path or PATH
            answer = await get(connections, address, path, timeout_s=TIMEOUT_S, keeps_alive=True)
        if answer.status != 200:
            raise EngineRefused(f"It answers {answer.status} to {path}.", status=answer.status)
        exporter, readings = read_devices(answer.body)
    except EngineError as error:
        return str(error)
    return [
        DeviceSeen(
            pool=page.pool,
            hardware=page.hardware,
            device=f"{address.host}:{address.port}/{one.device}",
            exporter=exporter,
            reading=one,
        )
        for one in readings
    ]


def _address(url: str) -> Address:
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    return Address(parts.hostname or "", parts.port or (443 if is_tls else 80), is_tls)
