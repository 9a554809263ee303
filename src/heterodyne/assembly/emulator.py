"""Runs one emulated engine until a signal ends it, or crashes on purpose."""

import asyncio
import signal
import sys

import uvloop

from heterodyne.assembly.listening import cannot_listen
from heterodyne.config.checks.gateway_checks import is_loopback
from heterodyne.domain.counted import counted, times
from heterodyne.domain.errors import PortInUse
from heterodyne.emulator.faults import Faults
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.emulator.replica_clock import LAG_MAX_S
from heterodyne.emulator.server import EmulatorServer


def run_emulator(order: EmulatorOrder, *, host: str, port: int, faults: Faults) -> bool:
    """Serve until SIGTERM or Ctrl-C; whether it crashed instead."""
    return bool(uvloop.run(_run(order, host, port, faults)))


async def _run(order: EmulatorOrder, host: str, port: int, faults: Faults) -> bool:
    loop = asyncio.get_running_loop()
    leave = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave.set)
    server = EmulatorServer(order, host=host, port=port, faults=faults)
    try:
        await server.open()
    except OSError as error:
        raise PortInUse(cannot_listen(host, port, error)) from error
    _announce(server)
    try:
        waits = [loop.create_task(event.wait()) for event in (leave, server.has_crashed)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        return server.has_crashed.is_set()
    finally:
        _announce_lags(server.engine.clock.lags)
        await server.close()


def _announce(server: EmulatorServer) -> None:
    order, scheduling = server.order, server.order.scheduling
    layout = order.layout
    sys.stderr.write(
        f"{order.served_model} in {layout.precision} on {layout.tp} x {layout.accelerator.name} under {layout.engine}, "
        f"speed from: {order.found.basis}; {counted(scheduling.slots, 'slot')}, {scheduling.kv_tokens} tokens of KV\n"
    )
    if not is_loopback(server.host):
        sys.stderr.write(f"{server.host} can be reached from other machines, and so can the fault switches\n")
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()


def _announce_lags(lags: int) -> None:
    if lags:
        sys.stderr.write(
            f"fell behind {times(lags)} by more than {LAG_MAX_S:g} s: this machine is too slow for so much load\n"
        )
