"""The fleets of the bake-off, and how far each pool's true speed is from what the router is told, by seed."""

from enum import StrEnum
from functools import lru_cache
from random import Random

from msgspec import Struct, structs

from heterodyne.physics.precision import Precision
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool

MODEL = "llama-3.1-8b"
SLOWDOWN_MIN, SLOWDOWN_MAX = 0.75, 1.35  # of a pool's steps against the performance model, drawn evenly


class Kind(StrEnum):
    """How alike the replicas of a fleet are."""

    ONE = "one kind"
    TWO = "two generations"
    MIXED = "mixed"


class Fleet(Struct, frozen=True, kw_only=True):
    """Replicas of one model."""

    name: str
    kind: Kind
    pools: dict[str, SimulatedPool]

    @property
    def replicas(self) -> int:
        """In all pools."""
        return sum(pool.replicas for pool in self.pools.values())


def fleet(name: str) -> Fleet:
    """One of `FLEETS`."""
    return next(one for one in FLEETS if one.name == name)


@lru_cache(maxsize=64)
def laid_out(name: str, seed: int) -> tuple[LaidOutPool, ...]:
    """The pools of a fleet, each as slow or fast as the seed will have it."""
    chance = Random(f"slowdown {name} {seed}")
    pools = {
        pool: structs.replace(said, slowdown=chance.uniform(SLOWDOWN_MIN, SLOWDOWN_MAX))
        for pool, said in fleet(name).pools.items()
    }
    return lay_out(FleetFile(pools=pools, left_out=()))


def _h100(replicas: int) -> SimulatedPool:
    return SimulatedPool(model=MODEL, hardware="h100-sxm", replicas=replicas)


def _mixed(replicas: int) -> dict[str, SimulatedPool]:
    each = replicas // 4
    return {
        "h100": _h100(each),
        "mi300x": SimulatedPool(model=MODEL, hardware="mi300x", replicas=each),
        "tpu-v5e": SimulatedPool(model=MODEL, hardware="tpu-v5e", tp=4, replicas=each),
        "l4": SimulatedPool(model=MODEL, hardware="l4", precision=Precision.FP8, replicas=each),
    }


FLEETS = (
    Fleet(name="8 x H100", kind=Kind.ONE, pools={"h100": _h100(8)}),
    Fleet(name="32 x H100", kind=Kind.ONE, pools={"h100": _h100(32)}),
    Fleet(
        name="4 x H100 + 4 x A100",
        kind=Kind.TWO,
        pools={"h100": _h100(4), "a100": SimulatedPool(model=MODEL, hardware="a100-80gb", replicas=4)},
    ),
    Fleet(name="2 each of H100, MI300X, 4 x TPU v5e, L4", kind=Kind.MIXED, pools=_mixed(8)),
    Fleet(name="16 each of H100, MI300X, 4 x TPU v5e, L4", kind=Kind.MIXED, pools=_mixed(64)),
)
