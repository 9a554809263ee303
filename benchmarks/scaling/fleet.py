"""The pool that all scalers scale, and what it carries: found by the simulator on a log that no load is made of."""

from functools import cache
from random import Random

from benchmarks.scaling.loads import drawn_request
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.capacity import capacity_rps
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

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
    log = capacity_log()
    points: list[tuple[int, float]] = []
    for count in COUNTS:
        found = capacity_rps((pool(count),), log, TRIAL, share=SHARE, requests=4000)
        if not points or found > points[-1][1]:
            points.append((count, found))
    prior = pool(1).prior()
    return CapacityCurve.of(
        CapacityCurve.smoothed(tuple(points)),
        prompt_tokens=sum(one.prompt_tokens for one in log) / len(log),
        output_tokens=sum(one.output_tokens for one in log) / len(log),
        prompt_token_s=prior.prompt_token_s,
        output_token_s=prior.sequence_s + prior.step_s / usual_concurrency(points[-1][1] / points[-1][0]),
    )


def capacity_log() -> list[TraceRequest]:
    """A request a second on average."""
    chance, at_s, log = Random(99), 0.0, []
    for _ in range(4000):
        at_s += chance.expovariate(1.0)
        log.append(drawn_request(at_s, chance))
    return log


@cache
def usual_concurrency(requests_per_s: float) -> float:
    """Requests that a replica of four holds at this rate each: Little's law, with the times of a simulation."""
    fleet = (pool(4),)
    tally = run(fleet, workload(capacity_log(), rate=4 * requests_per_s, requests=2000), TRIAL)
    return requests_per_s * report(tally, TRIAL).total.mean_s
