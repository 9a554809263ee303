"""The fleet that is run twice: as emulated engines behind `heterodyne serve`, and laid out for the simulator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from benchmarks.emulated_fleet import EmulatedFleet, emulated_fleet
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool

MODEL = "llama-3.1-8b"
CONTEXT_TOKENS = 8192


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
    has_queue: bool = False  # of its own, as gateways have
    speed: float = 1.0  # of the emulated clocks


def laid_out() -> tuple[LaidOutPool, ...]:
    """For the simulator."""
    return lay_out(FleetFile(pools=POOLS, left_out=()))


@contextmanager
def live_fleet(folder: Path, rules: Rules) -> Iterator[EmulatedFleet]:
    """All of it, ready; what still runs is ended with the block."""
    arguments = {name: _arguments(pool, rules.speed) for name, pool in POOLS.items()}
    with emulated_fleet(folder, arguments, partial(settings, rules)) as fleet:
        yield fleet


def settings(rules: Rules, urls: Mapping[str, str]) -> str:
    """The gateway's settings file."""
    # The simulated gateway has no queue of its own: what finds a replica full waits inside the engine.
    parts = ["" if rules.has_queue else "[admission]\nqueue_max = 0\n", rules.more]
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


def _arguments(pool: SimulatedPool, speed: float) -> tuple[str, ...]:
    return (
        *("--hardware", pool.hardware, "--model", MODEL, "--precision", str(pool.precision), "--tp", str(pool.tp)),
        *("--engine", pool.engine, "--context", str(CONTEXT_TOKENS), "--speed", str(speed)),
    )
