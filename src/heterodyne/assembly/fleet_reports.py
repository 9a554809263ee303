"""Builds a worker's part in what gateways tell each other of the fleet they share."""

import os
import socket
from hashlib import sha256
from pathlib import Path

from heterodyne.assembly.request_path import RequestPath
from heterodyne.config.settings import Settings
from heterodyne.control.report_loop import GossipOutbox, ReportLoop
from heterodyne.routing.worker_reports import WorkerReports
from heterodyne.stores.redis.reports import RedisReports

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def machine_name() -> str:
    """Of what loopback addresses are of: the same for all gateways that share them, another one elsewhere, in a
    container of the same host too."""
    try:
        boot = BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        boot = ""  # elsewhere than on Linux
    return f"{socket.gethostname()} {boot}"


def try_report_loop(
    settings: Settings, path: RequestPath, *, name: str, run_dir: Path | None, workers: int
) -> ReportLoop | None:
    """None: this gateway tells others nothing. Raises SettingsInvalid."""
    url = settings.stores.fleet_url
    if url is None:
        return None
    upstream = path.upstream
    process = os.urandom(6).hex()
    gateway = sha256(f"{machine_name()} {run_dir or process}".encode()).hexdigest()[:16]
    sender = f"{gateway}-{name}-{process}"
    return ReportLoop(
        RedisReports(url),
        WorkerReports(upstream.router, lambda: upstream.selector.health, name=sender),
        sender=sender,
        gateway=gateway,
        outbox=GossipOutbox(upstream.router.take_gossip, has_near=workers > 1),
        hear_gossip=upstream.router.receive_gossip,
        clock=upstream.clock,
    )
