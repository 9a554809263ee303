"""`heterodyne serve`: fetches weights, starts engines and gateway workers, keeps them alive, ends them in order."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import uvloop
from msgspec import structs

from heterodyne.assembly.alerts import open_alerts
from heterodyne.assembly.console import open_console
from heterodyne.config.settings import Settings
from heterodyne.console.app import admin_app
from heterodyne.console.server import AdminServer
from heterodyne.ports.weights import Progress
from heterodyne.registry.weights import obtain
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.announce import announce
from heterodyne.supervisor.configured_replicas import local_replicas, remote_replicas
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner, Reread
from heterodyne.supervisor.fleet.reconcile import members
from heterodyne.supervisor.listen_address import claim, claim_alone
from heterodyne.supervisor.meters.supervisor import SupervisorMeters
from heterodyne.supervisor.run_folder import run_folder
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores, open_supervisor_stores
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import keep_running, run_periodically

FOLD_INTERVAL_S = 1.0

_log = log.get("assembly")


def serve(settings: Settings, reread: Reread, progress: Progress) -> int:
    """Serve until SIGINT or SIGTERM; SIGHUP has `reread` read the settings again. The exit code is for the shell."""
    log.configure(settings.telemetry)
    state_dir = state_folder(os.environ)
    with claim(settings.gateway.host, settings.gateway.port) as holder, run_folder(state_dir, os.environ) as run_dir:
        port: int = holder.getsockname()[1]
        running = structs.replace(settings, gateway=structs.replace(settings.gateway, port=port))
        console = settings.console
        admin = claim_alone(console.host, console.port) if console.listens else None
        wanted = members(remote_replicas(running), local_replicas(running, _weights(running, progress)))

        def owner(stores: SupervisorStores) -> FleetOwner:
            return FleetOwner(
                settings,
                running,
                wanted,
                run_dir=run_dir,
                reread=reread,
                fetch=lambda new: _weights(new, _unseen),
                places=stores.places,
                tenants=stores.snapshot,
            )

        return uvloop.run(_supervise(running, run_dir, owner, admin))


def _weights(settings: Settings, progress: Progress) -> dict[str, Path]:
    """Fetch what is missing, by pool; nothing starts before everything is there."""
    return {
        name: obtain(pool.weights, pool.weights_sha256, settings.registry, progress)
        for name, pool in settings.pools.items()
        if pool.weights is not None
    }


def _unseen(_: str, __: int, ___: int | None) -> None:
    """Nobody watches a reload."""


async def _supervise(
    began: Settings,
    run_dir: Path,
    owner_of: Callable[[SupervisorStores], FleetOwner],
    listener: socket.socket | None,
) -> int:
    leave = asyncio.Event()
    # Workers end before the engines they still stream from, and both before the books are closed.
    async with open_supervisor_stores(began, run_dir) as stores, asyncio.TaskGroup() as engine_group:
        owner = owner_of(stores)
        stores.publish = owner.take_tenants
        stores.fleet = owner
        tenants = TenantUsageReader(stores.tenants, stores.books, stores.limits, owner.workers.views)
        stores.meters = SupervisorMeters(owner, stores.books, tenants)
        stores.alerts = open_alerts(owner, stores, tenants, run_dir)
        admin = None
        if listener is not None:
            instruments = open_console(began, owner, stores, tenants)
            stores.feed = instruments.feed
            app = admin_app(began.console, owner, stores.admin_services, instruments)
            admin = AdminServer(app, listener, instruments.guard)
        owner.start(engine_group)
        following = engine_group.create_task(stores.run(), name="tenants")
        _heed_signals(asyncio.get_running_loop(), leave, stores.reload_soon)
        async with asyncio.TaskGroup() as worker_group:
            worker_tasks = [
                worker_group.create_task(keep_running(one.name, one.run), name=one.name)
                for one in owner.workers.processes
            ]
            folding = worker_group.create_task(
                run_periodically("folded meters", owner.workers.folded.save, FOLD_INTERVAL_S), name="folded meters"
            )
            if admin is not None and listener is not None:
                worker_group.create_task(keep_running("admin", admin.run), name="admin")
                _log.info("admin_listens", url=_url(listener))
            engines = owner.engines()
            waits = partial(
                announce,
                began,
                [*engines, *owner.workers.processes],
                set(engines.values()),
                None if listener is None else _url(listener),
            )
            announcer = worker_group.create_task(keep_running("banner", waits))
            await leave.wait()
            _log.info("stopping", drain_timeout_s=owner.settings.gateway.drain_timeout_s)
            if admin is not None and stores.feed is not None:
                stores.feed.close()
                admin.leave()
            for task in (announcer, folding, *worker_tasks):
                task.cancel()
        following.cancel()
        owner.close()
    return 0


def _heed_signals(loop: asyncio.AbstractEventLoop, leave: asyncio.Event, reload: Callable[[], object]) -> None:
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


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
