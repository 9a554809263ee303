"""`heterodyne serve`: claims its ports, fetches weights, opens the stores and builds the supervisor over them."""

import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import uvloop
from msgspec import structs

from heterodyne.assembly.console import build_access
from heterodyne.assembly.fleet import build_fleet_owner
from heterodyne.assembly.pool_weights import pool_weights
from heterodyne.assembly.stores import open_supervisor_stores
from heterodyne.assembly.supervisor import run_supervisor
from heterodyne.config.settings import Settings
from heterodyne.fleet.local_driver import LocalDriver
from heterodyne.ports.weights import Progress
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.configured_replicas import driven_pools, local_replicas, remote_replicas
from heterodyne.supervisor.fleet.fleet_reload import Reread
from heterodyne.supervisor.fleet.platform_drivers import PlatformDrivers
from heterodyne.supervisor.fleet.reconcile import FleetMember, members
from heterodyne.supervisor.listen_address import claim, claim_alone
from heterodyne.supervisor.rollouts.keeper import splits_of
from heterodyne.supervisor.run_folder import run_folder
from heterodyne.telemetry import log


def serve(settings: Settings, reread: Reread, progress: Progress) -> int:
    """Serve until SIGINT or SIGTERM; SIGHUP has `reread` read the settings again. The exit code is for the shell."""
    log.configure(settings.telemetry)
    state_dir = state_folder(os.environ)
    picker = settings.endpoint_picker
    with (
        claim(settings.gateway.host, settings.gateway.port) as holder,
        claim(picker.host, picker.port, "endpoint_picker") if picker.listens else nullcontext(),
        run_folder(state_dir, os.environ) as run_dir,
    ):
        port: int = holder.getsockname()[1]
        running = structs.replace(settings, gateway=structs.replace(settings.gateway, port=port))
        console = settings.console
        listener = claim_alone(console.host, console.port) if console.listens else None
        weights = pool_weights(running, progress)
        wanted = members(remote_replicas(running), local_replicas(running, weights))
        uvloop.run(_serve(settings, running, wanted, weights, run_dir=run_dir, reread=reread, listener=listener))
    return 0


async def _serve(
    began: Settings,
    settings: Settings,
    wanted: Sequence[FleetMember],
    weights: Mapping[str, Path],
    *,
    run_dir: Path,
    reread: Reread,
    listener: socket.socket | None,
) -> None:
    def on_settings(new: Settings, weights: Mapping[str, Path]) -> None:
        local.take(driven_pools(new, weights))
        platforms.take(new)
        owner.driven.forget_asked()
        if access is not None:
            access.guard.take(new.console)

    local, platforms = LocalDriver(driven_pools(settings, weights)), PlatformDrivers(settings)
    # What serves ends before the books are closed.
    async with open_supervisor_stores(settings, run_dir) as stores:
        access = None if listener is None else build_access(settings, listener)
        owner = build_fleet_owner(
            began,
            settings,
            wanted,
            run_dir=run_dir,
            places=stores.places,
            tenants=stores.snapshot,
            splits=splits_of(await stores.rollouts.rollouts(), settings.pools),
            drops=await stores.policies.drops(time.time()),
            weights=weights,
            reread=reread,
            fetch=lambda new: pool_weights(new, _unseen),
            on_settings=on_settings,
            drivers=(local, *platforms.all),
        )
        await run_supervisor(settings, owner, stores, run_dir, access)


def _unseen(_: str, __: int, ___: int | None) -> None:
    """The progress of a reload is not shown."""
