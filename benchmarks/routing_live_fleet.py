"""The fleet that is run twice: as emulated engines behind `heterodyne serve`, and laid out for the simulator."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.record import RequestRecord
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.testing.serve_process import ServeProcess
from process_cpu import tree_usage

MODEL = "llama-3.1-8b"
CONTEXT_TOKENS = 8192
START_S_MAX, END_S_MAX = 60.0, 10.0
GATEWAY = "gateway"
BEHIND = "fell behind"  # what an emulator says when the machine was too slow for it


def _pool(hardware: str, *, tp: int = 1, precision: Precision = Precision.BF16) -> SimulatedPool:
    return SimulatedPool(model=MODEL, hardware=hardware, tp=tp, precision=precision, context_tokens=CONTEXT_TOKENS)


POOLS = {
    "h100": _pool("h100-sxm"),
    "mi300x": _pool("mi300x"),
    "tpu-v5e": _pool("tpu-v5e", tp=4),
    "l4": _pool("l4", precision=Precision.FP8),
}


class Rules(Struct, frozen=True, kw_only=True):
    """What the gateway is told of its model."""

    policy: str
    slo: Slo
    more: str = ""  # settings besides, as TOML


class LiveFleet:
    """Emulators and gateway while they run; the gateway is stopped before its records are read."""

    def __init__(self, serve: ServeProcess, emulators: Mapping[str, "subprocess.Popen[str]"], folder: Path) -> None:
        self.url = serve.url
        self._serve = serve
        self._emulators = emulators
        self._folder = folder

    def cpu_s(self) -> dict[str, float]:
        """Of each process, since it began."""
        pids = {GATEWAY: self._serve.process.pid, **{name: one.pid for name, one in self._emulators.items()}}
        return {name: tree_usage(pid).cpu_s for name, pid in pids.items()}

    def end(self) -> list[RequestRecord]:
        """What the gateway wrote down."""
        self._serve.stop()
        for one in self._emulators.values():
            one.terminate()
            one.wait(END_S_MAX)
        lines = (self._folder / "records.jsonl").read_bytes().splitlines()
        return [msgspec.json.decode(line, type=RequestRecord) for line in lines]

    def behind(self) -> list[str]:
        """Emulators that said the machine was too slow for them; only after the end."""
        return [name for name in self._emulators if BEHIND in (self._folder / f"{name}.log").read_text()]


def laid_out() -> tuple[LaidOutPool, ...]:
    """For the simulator."""
    return lay_out(FleetFile(pools=POOLS, left_out=()))


@contextmanager
def live_fleet(folder: Path, rules: Rules) -> Iterator[LiveFleet]:
    """All of it, ready; what still runs is ended with the block."""
    # Profiles of this machine's user are no part of the comparison.
    environment = {**os.environ, "XDG_DATA_HOME": str(folder)}
    with ExitStack() as stack:
        emulators = {
            name: stack.enter_context(_emulator(name, pool, folder, environment)) for name, pool in POOLS.items()
        }
        urls = {name: _url(name, one, folder) for name, one in emulators.items()}
        serve = stack.enter_context(
            ServeProcess(
                folder,
                config=settings(rules, urls),
                environment={
                    "XDG_DATA_HOME": str(folder),
                    "HETERODYNE_TELEMETRY__RECORDS": str(folder / "records.jsonl"),
                },
            )
        )
        serve.wait_ready()
        yield LiveFleet(serve, emulators, folder)


def settings(rules: Rules, urls: Mapping[str, str]) -> str:
    """The gateway's settings file."""
    parts = [rules.more] if rules.more else []
    for name, pool in POOLS.items():
        parts.append(
            f'[pools.{name}]\nmodel = "{MODEL}"\nengine = "{pool.engine}"\nurls = ["{urls[name]}"]\n'
            f'hardware = "{pool.hardware}"\ntp = {pool.tp}\nprecision = "{pool.precision}"\n'
            f"context_tokens = {pool.context_tokens}\n"
        )
    parts.append(
        f'[models."{MODEL}"]\npolicy = "{rules.policy}"\n'
        f"slo_ttft_ms = {1000 * rules.slo.ttft_s:g}\nslo_itl_ms = {1000 * rules.slo.itl_s:g}\n"
    )
    return "\n".join(parts)


@contextmanager
def _emulator(
    name: str, pool: SimulatedPool, folder: Path, environment: Mapping[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    # A usual answer of one token, so that an answer is as long as its request's `min_tokens` says: the gateway does
    # not read that field, and has to guess lengths as the simulated one does.
    command = [
        sys.executable, "-m", "heterodyne", "emulate", "--port", "0", "--hardware", pool.hardware, "--model", MODEL,
        "--precision", str(pool.precision), "--tp", str(pool.tp), "--engine", pool.engine,
        "--context", str(CONTEXT_TOKENS), "--output-tokens", "1",
    ]  # fmt: skip
    with (folder / f"{name}.out").open("w") as out, (folder / f"{name}.log").open("w") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=log, env=dict(environment), text=True
        )
    try:
        yield child
    finally:
        child.terminate()
        child.wait(END_S_MAX)


def _url(name: str, child: "subprocess.Popen[str]", folder: Path) -> str:
    until_s = time.monotonic() + START_S_MAX
    while not (said := (folder / f"{name}.out").read_text()).endswith("\n"):
        if child.poll() is not None or time.monotonic() > until_s:
            raise SystemExit(f"{name} does not start: {(folder / f'{name}.log').read_text()[-2000:]}")
        time.sleep(0.05)
    return said.strip()
