"""What growing numbers of a pool's replicas carry within the promise: simulated at a few sizes, smoothed between."""

from collections.abc import Sequence
from random import Random

from msgspec import structs

from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.capacity import capacity_rps
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

REQUESTS = 2000  # in each simulation
LOG_MAX = 4000  # requests of a log that stand for all of it


def capacity_curve(
    pool: LaidOutPool,
    log: Sequence[TraceRequest],
    trial: Trial,
    *,
    share: float,
    counts: Sequence[int],
    requests: int = REQUESTS,
) -> CapacityCurve:
    """At these numbers of replicas, none above what the pool has."""
    points: list[tuple[int, float]] = []
    for count in counts:
        found = capacity_rps((first_of(pool, count),), log, trial, share=share, requests=requests)
        if not points or found > points[-1][1]:
            points.append((count, found))
    count, rate = points[-1]
    prior = pool.prior()
    inside = usual_concurrency(first_of(pool, count), log, trial, rate) / count
    return CapacityCurve.of(
        CapacityCurve.smoothed(tuple(points)),
        prompt_tokens=sum(one.prompt_tokens for one in log) / len(log),
        output_tokens=sum(one.output_tokens for one in log) / len(log),
        prompt_token_s=prior.prompt_token_s,
        output_token_s=prior.sequence_s + prior.step_s / max(1.0, inside),
    )


def evenly(log: Sequence[TraceRequest], *, seed: int) -> list[TraceRequest]:
    """Requests from all over a log, one a second by chance: a log with quiet and busy hours would have its capacity
    found at the busiest of them."""
    chance, at_s, even = Random(seed), 0.0, []  # noqa: S311 (no secret)
    stride = max(1, len(log) // LOG_MAX)
    for one in log[::stride][:LOG_MAX]:
        at_s += chance.expovariate(1.0)
        even.append(structs.replace(one, at_s=at_s))
    return even


def usual_concurrency(pool: LaidOutPool, log: Sequence[TraceRequest], trial: Trial, rate: float) -> float:
    """Requests that the pool holds at this rate: Little's law, with the times of a simulation."""
    tally = run((pool,), workload(log, rate=rate, requests=REQUESTS), trial)
    return rate * report(tally, trial).total.mean_s


def first_of(pool: LaidOutPool, count: int) -> LaidOutPool:
    """The same pool with fewer replicas."""
    return structs.replace(pool, replicas=pool.replicas[:count])


def counts_to(maximum: int) -> tuple[int, ...]:
    """Sizes that a curve is simulated at: few, as each takes seconds."""
    return tuple(sorted({1, min(2, maximum), min(4, maximum), max(1, maximum // 2), maximum}))
