"""The gateway worker process: reads its order, serves, drains on SIGTERM.

Run as `python -m heterodyne.assembly.worker` by the supervisor.
"""

import asyncio
import gc
import os
import signal
import sys
import threading
from pathlib import Path

import msgspec
import uvloop

from heterodyne.assembly.gateway import running_gateway
from heterodyne.assembly.worker_order import WorkerOrder
from heterodyne.telemetry import log


def main() -> None:
    """One worker's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=WorkerOrder)
    log.configure(order.settings.telemetry, worker=order.name)
    # Requests make no reference cycles, so a full collection only costs latency; start-up objects never die.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
    uvloop.run(_serve(order))


async def _serve(order: WorkerOrder) -> None:
    leave = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, leave.set)
    _leave_when_parent_ends(loop, leave)
    run_dir = Path(order.run_dir)
    async with running_gateway(
        order.settings, order.replicas, name=order.name, run_dir=run_dir, reuse_port=True
    ) as server:
        sys.stdout.write(msgspec.json.encode({"listening": server.port}).decode() + "\n")
        sys.stdout.flush()
        await leave.wait()
        await server.drain()


def _leave_when_parent_ends(loop: asyncio.AbstractEventLoop, leave: asyncio.Event) -> None:
    """The supervisor holds our standard input open for as long as it lives."""

    def watch() -> None:
        # Not through sys.stdin: its lock, held by this thread, would stand in the way of the interpreter's end.
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(leave.set)

    threading.Thread(target=watch, name="parent", daemon=True).start()


if __name__ == "__main__":
    main()
