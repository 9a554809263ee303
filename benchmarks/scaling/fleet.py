"""The pool that all scalers scale, and what it carries: found by the simulator on a log that no load is made of."""

from functools import cache
from random import Random

from benchmarks.scaling.loads import drawn_request
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.capacity_curve import capacity_curve, usual_concurrency
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.simulator.trial import Trial

POOL = "l4"
SLO = Slo(ttft_s=2.0, itl_s=0.1)
SHARE = 0.99
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16)
MAXIMUM = 24
COLD_START_S = 120.0
TRIAL = Trial(policy="slo", seed=5, slo=SLO, gauge_interval_s=2.0, gauge_turns=1)


def pool(replicas: int) -> LaidOutPool:
    """Llama 8B in its own precision on one L4 each."""
    file = FleetFile(
        pools={
            POOL: SimulatedPool(model="llama-3.1-8b", hardware="l4", tp=1, precision=Precision.BF16, replicas=replicas)
        }
    )
    [laid_out] = lay_out(file)
    return laid_out


@cache
def curve() -> CapacityCurve:
    """At several sizes."""
    return capacity_curve(pool(max(COUNTS)), capacity_log(), TRIAL, share=SHARE, counts=COUNTS, requests=4000)


def capacity_log() -> list[TraceRequest]:
    """A request a second on average."""
    chance, at_s, log = Random(99), 0.0, []
    for _ in range(4000):
        at_s += chance.expovariate(1.0)
        log.append(drawn_request(at_s, chance))
    return log


@cache
def concurrency() -> float:
    """Of a replica that is as full as the promise allows, for those whose target it is."""
    count, rate = curve().points[-1]
    return usual_concurrency(pool(4), capacity_log(), TRIAL, 4 * rate / count) / 4
