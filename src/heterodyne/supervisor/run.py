"""Runs what a supervisor has, engines, workers, loops and the admin port, until a signal, and ends it in order."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.server import AdminServer
from heterodyne.supervisor.announce import announce
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import keep_running, run_periodically

FOLD_INTERVAL_S = 1.0

_log = log.get("assembly")

Loops = Mapping[str, Callable[[], Awaitable[object]]]  # by name; each runs until it is cancelled


class AdminPort(Struct, frozen=True, kw_only=True, eq=False):
    """The admin API, where it is served."""

    server: AdminServer
    feed: LiveFeed
    url: str


async def supervise(
    settings: Settings, owner: FleetOwner, loops: Loops, *, reload: Callable[[], None], admin: AdminPort | None
) -> None:
    """Until SIGINT or SIGTERM; SIGHUP calls `reload`. Workers end before the engines that they still stream from."""
    leave = asyncio.Event()
    async with asyncio.TaskGroup() as engine_group:
        owner.start(engine_group)
        looping = engine_group.create_task(run_loops(loops), name="loops")
        _heed_signals(asyncio.get_running_loop(), leave, reload)
        async with asyncio.TaskGroup() as worker_group:
            tasks = _start_workers(worker_group, settings, owner, None if admin is None else admin.url)
            if admin is not None:
                worker_group.create_task(keep_running("admin", admin.server.run), name="admin")
                _log.info("admin_listens", url=admin.url)
            await leave.wait()
            _log.info("stopping", drain_timeout_s=owner.settings.gateway.drain_timeout_s)
            if admin is not None:
                admin.feed.close()
                admin.server.leave()
            for task in tasks:
                task.cancel()
        looping.cancel()
        owner.close()


async def run_loops(loops: Loops) -> None:
    """All of them, until cancelled; one that fails begins again."""
    async with asyncio.TaskGroup() as group:
        for name, run in loops.items():
            group.create_task(keep_running(name, run), name=name)


def _start_workers(
    group: asyncio.TaskGroup, settings: Settings, owner: FleetOwner, console_url: str | None
) -> list[asyncio.Task[None]]:
    """The workers, what adds up their meters, and the banner."""
    workers, engines = owner.workers, owner.engines()
    waits = partial(announce, settings, [*engines, *workers.processes], set(engines.values()), console_url)
    folding = run_periodically("folded meters", workers.folded.save, FOLD_INTERVAL_S)
    return [
        group.create_task(keep_running("banner", waits)),
        group.create_task(folding, name="folded meters"),
        *(group.create_task(keep_running(one.name, one.run), name=one.name) for one in workers.processes),
    ]


def _heed_signals(loop: asyncio.AbstractEventLoop, leave: asyncio.Event, reload: Callable[[], None]) -> None:
    """The first sign to leave drains; a second one leaves at once, and the children follow their parent."""
    had_terminal = _has_terminal()

    def on_leave() -> None:
        if leave.is_set():
            os._exit(130)
        leave.set()

    def on_hangup() -> None:
        # The same signal means that the terminal we were started from is gone.
        if had_terminal and not _has_terminal():
            on_leave()
        elif not leave.is_set():
            reload()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_leave)
    loop.add_signal_handler(signal.SIGHUP, on_hangup)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
