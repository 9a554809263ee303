"""Runs one JAX engine until a signal ends it."""

import asyncio
import signal
import sys
import time
from pathlib import Path

import jax
import uvloop

from heterodyne.assembly.listening import cannot_listen
from heterodyne.config.checks.gateway_checks import is_loopback
from heterodyne.domain.counted import counted
from heterodyne.domain.errors import PortInUse
from heterodyne.jax_engine.ahead import compile_ahead
from heterodyne.jax_engine.served_model import JaxModel, model_of_folder, random_model
from heterodyne.jax_engine.server import JaxOrder, JaxServer


def run_jax_engine(
    order: JaxOrder,
    *,
    folder: Path | None,
    random_shape: str | None,
    precision: str | None,
    host: str,
    port: int,
    compiles_ahead: bool | None,
) -> None:
    """Serve `folder`, or random weights of a shape, until SIGTERM or Ctrl-C."""
    precision = precision or ("fp32" if jax.default_backend() == "cpu" else "bf16")
    if folder is not None:
        model = model_of_folder(folder, precision)
    else:
        assert random_shape is not None
        model = random_model(random_shape, precision)
    if jax.default_backend() != "cpu" if compiles_ahead is None else compiles_ahead:
        _compile_ahead(model, order)
    uvloop.run(_run(model, order, host, port))


def _compile_ahead(model: JaxModel, order: JaxOrder) -> None:
    began_s = time.monotonic()
    made = compile_ahead(
        model.programs,
        slots=order.slots,
        context_tokens=min(order.context_tokens, model.programs.shape.context_tokens),
        chunk_tokens=order.chunk_tokens,
        steps=order.steps,
    )
    sys.stderr.write(f"{order.name}: {counted(made, 'program')} compiled in {time.monotonic() - began_s:.0f} s\n")


async def _run(model: JaxModel, order: JaxOrder, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    leave = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave.set)
    server = JaxServer(model, order, host=host, port=port)
    try:
        await server.open()
    except OSError as error:
        raise PortInUse(cannot_listen(host, port, error)) from error
    try:
        sys.stderr.write(f"{order.name}: {counted(order.slots, 'slot')} of {server.context_tokens} tokens\n")
        if not is_loopback(host):
            sys.stderr.write(f"{host} can be reached from other machines, and asks nobody for a key\n")
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await leave.wait()
    finally:
        await server.close()
