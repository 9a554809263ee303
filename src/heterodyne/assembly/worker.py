"""The gateway worker process: reads its order, serves, takes newer orders, drains on SIGTERM.

Run as `python -m heterodyne.assembly.worker` by the supervisor.
"""

import asyncio
import ctypes
import gc
import signal
import sys
import threading
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import msgspec
import uvloop

from heterodyne.assembly.gateway import running_gateway
from heterodyne.assembly.recorders import open_audit_recorder, open_sign_sender, open_usage_recorder
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.stores.leases.host import HostLeases
from heterodyne.supervisor.line_reader import LineReader
from heterodyne.supervisor.workers.decision_server import serve_decisions
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.supervisor.workers.order import LEASES, WorkerOrder
from heterodyne.supervisor.workers.tenants_file import read_tenants
from heterodyne.supervisor.workers.view import write_view
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import keep_running

VIEW_INTERVAL_S = 1.0
SWITCH_INTERVAL_S = 0.0005  # a thread that hashes or redacts gives way to the loop so soon, not after 5 ms
HASTE_INTERVAL_S = 0.1  # while the supervisor may be waiting for the next view
OWN_BLOCK_BYTES = 1 << 20
KEPT_BYTES = 4 << 20  # freed at the end of the heap, for the next bodies
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
VIEW_SHARE_MAX = 0.05  # of the worker's time: the view of a large fleet is left less often

_log = log.get("assembly")
_decode = msgspec.json.Decoder(WorkerOrder).decode


def main() -> None:
    """One worker, from its first order to its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines = LineReader()
    first = lines.try_next()
    if first is None:
        return
    order = _decode(first)
    log.configure(order.settings.telemetry, worker=order.name)
    # Requests make no reference cycles, so a full collection only costs latency; start-up objects never die.
    _give_large_allocations_their_own_blocks()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
    uvloop.run(_serve(order, lines))


def _give_large_allocations_their_own_blocks() -> None:
    """Memory of large bodies comes from the system and goes back to it.

    glibc's own habit is to keep freed memory of up to 32 MiB for later and to grow a buffer there by copying it, which
    for a body takes longer than a turn of the loop may. A block of its own grows by moving its pages. Other C libraries
    have no such habit and no such call. To set that size is to have glibc keep next to nothing of smaller blocks: each
    body of a few hundred kilobytes would be given back page by page, and asked for again.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, OWN_BLOCK_BYTES)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)


async def _serve(order: WorkerOrder, lines: LineReader) -> None:
    leave = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, leave.set)
    run_dir = Path(order.run_dir)
    with (
        open_usage_recorder(order) as usage_recorder,
        open_audit_recorder(order) as audit_recorder,
        open_sign_sender(order) as signs,
        # One thread, so that the last view is the latest; a disk may take longer over a file than a turn of the loop.
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="files") as files,
    ):
        async with (
            running_gateway(
                order.settings,
                order.replicas,
                rules=order.rules,
                tenants=_tenants(order),
                leases=HostLeases(run_dir / LEASES) if order.tenants else None,
                usage_recorder=usage_recorder,
                audit_recorder=audit_recorder,
                name=order.name,
                run_dir=run_dir,
                reuse_port=True,
                console_key_sha256=order.places.console_key_sha256,
                version=order.version,
            ) as gateway,
            serve_decisions(run_dir, order.name, gateway.explainer, gateway.guard_hits),
        ):
            gateway.watch_abuse(signs, order.restrictions)
            gateway.take_drops(order.drops)
            write_view(run_dir, gateway.view(order.name))
            _take_lines(loop, lines, gateway, leave, files)
            views = loop.create_task(keep_running("views", lambda: _write_views(gateway, run_dir, order.name, files)))
            sys.stdout.write(msgspec.json.encode({"listening": gateway.server.port}).decode() + "\n")
            sys.stdout.flush()
            await leave.wait()
            await gateway.server.drain()
            views.cancel()


def _tenants(order: WorkerOrder) -> TenantSnapshot:
    return order.tenants_here or read_tenants(Path(order.run_dir), order.tenants)


def _take_lines(
    loop: asyncio.AbstractEventLoop, lines: LineReader, gateway: LiveGateway, leave: asyncio.Event, files: Executor
) -> None:
    """In a thread, as the pipe blocks; an order is taken by the loop itself, between two requests."""

    taken = ""  # the tenants that the gateway has
    context = copy_context()  # a thread has none, and log lines of what an order begins are to name their worker

    def take(line: bytes) -> None:
        nonlocal taken
        version = 0
        try:
            order = _decode(line)
            version = order.version
            tenants = None if order.tenants == taken else _tenants(order)
            gateway.apply(
                order.settings, order.replicas, order.rules, order.version, tenants, restrictions=order.restrictions
            )
            gateway.take_drops(order.drops)
            taken = order.tenants
            files.submit(write_view, Path(order.run_dir), gateway.view(order.name))
        except Exception as error:  # noqa: BLE001  # a worker that cannot take an order serves by the last one
            _log.error("order_failed", version=version, exc_info=error)

    def watch() -> None:
        while (line := lines.try_next()) is not None:
            loop.call_soon_threadsafe(take, line, context=context)
        loop.call_soon_threadsafe(leave.set)

    threading.Thread(target=watch, name="parent", daemon=True).start()


async def _write_views(gateway: LiveGateway, run_dir: Path, name: str, files: Executor) -> None:
    loop = asyncio.get_running_loop()
    left_at_s, took_s, takeable = time.monotonic(), 0.0, 0
    while True:
        await asyncio.sleep(max(HASTE_INTERVAL_S, took_s / VIEW_SHARE_MAX))
        before, takeable = takeable, gateway.takeable()
        is_awaited = takeable != before or gateway.is_emptying() or gateway.is_holding()
        if is_awaited or time.monotonic() - left_at_s >= VIEW_INTERVAL_S:
            left_at_s = time.monotonic()
            view = gateway.view(name)
            took_s = time.monotonic() - left_at_s
            await loop.run_in_executor(files, write_view, run_dir, view)


if __name__ == "__main__":
    main()
