"""How many requests like a trace's a fleet sustains in a second: found by simulating it."""

from collections.abc import Sequence
from math import sqrt

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.hardware.pool_capacity import replica_requests_per_s
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload, workload

REQUESTS = 1500  # in each simulation
STEP = 1.3
STEPS_MAX = 12  # up or down from the estimate
HALVINGS = 3


def capacity_rps(
    pools: Sequence[LaidOutPool], log: Sequence[TraceRequest], trial: Trial, *, share: float, requests: int = REQUESTS
) -> float:
    """The rate at which this share of requests keeps the trial's service level, to within some percent."""

    def is_kept(rate: float) -> bool:
        tally = run(pools, workload(log, rate=rate, requests=requests), trial)
        return report(tally, trial).attainment >= share

    rate = _estimate(pools, workload(log, rate=1.0), trial, share)
    kept = is_kept(rate)
    step = STEP if kept else 1 / STEP
    for _ in range(STEPS_MAX):
        rate *= step
        if is_kept(rate) != kept:
            break
    else:
        if not kept:
            raise InvalidSpec(
                f"no load was found at which {share:.4g} of requests are within {trial.slo.ttft_s:g} s and "
                f"{trial.slo.itl_s * 1000:g} ms a token: say --rate instead of --load, or allow more"
            )
    low, high = sorted((rate, rate / step))
    for _ in range(HALVINGS):
        middle = sqrt(low * high)
        low, high = (middle, high) if is_kept(middle) else (low, middle)
    return low


def _estimate(pools: Sequence[LaidOutPool], traffic: Workload, trial: Trial, share: float) -> float:
    """By the formula, with the trace's mean lengths."""
    shape = RequestShape(prompt_tokens=traffic.prompt_tokens_mean, output_tokens=traffic.output_tokens_mean)
    rates = [
        len(pool.replicas)
        * replica_requests_per_s(
            pool.layout,
            pool.profile,
            pool.scheduling,
            shape=shape,
            slo=trial.slo,
            share=share,
            speculation=pool.speculation,
        )
        / pool.slowdown
        for pool in pools
    ]
    return sum(rates) or 1.0
