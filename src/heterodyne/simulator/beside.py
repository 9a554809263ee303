"""A batch beside a trace: the trace alone, the batch alone, and both, through one admission and one router."""

from collections.abc import Sequence

from msgspec import Struct, structs

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.physics.serving import Slo
from heterodyne.simulator.batch import BatchTally, SimulatedBatch
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.run import run
from heterodyne.simulator.tally import SimulationTally
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload

IN_FLIGHT_MAX = 4096  # of the worker: more than a fleet of some replicas holds, so that those are what is filled


class BatchPoolShare(Struct, frozen=True, kw_only=True):
    """What one pool did of the batch beside the trace."""

    pool: str
    lines_per_s: float
    in_flight_mean: float


class BatchReport(Struct, frozen=True, kw_only=True):
    """How a batch fares beside a trace, and the trace beside it."""

    lines: int  # answered before the last request of the trace came
    lines_per_s: float
    alone_lines_per_s: float  # of the fleet without the trace, under the same SLO
    load: float  # of the trace, as a share of the fleet's capacity for requests like its
    left_over_lines_per_s: float  # of those alone, what the load leaves
    attainment_without: float
    attainment_with: float
    prefix_hit_share: float  # of the tokens of their prompts
    pools: tuple[BatchPoolShare, ...]


def batch_beside(
    pools: Sequence[LaidOutPool], traffic: Workload, trial: Trial, batch: SimulatedBatch, *, capacity_rps: float
) -> BatchReport:
    """The batch comes with the first request, and is cut off with the last; `capacity_rps` is for the trace alone."""
    beside = structs.replace(batch, until_s=traffic.lap_s * traffic.requests / len(traffic.arrivals))
    admitted = structs.replace(trial, admission=AdmissionSettings(in_flight_max=IN_FLIGHT_MAX))
    without = run(pools, traffic, admitted)
    both = run(pools, traffic, structs.replace(admitted, batch=beside))
    first = structs.replace(traffic, requests=1)
    alone = run(pools, first, structs.replace(admitted, batch=beside)).batch
    assert both.batch is not None
    assert alone is not None
    load = traffic.requests / beside.until_s / capacity_rps
    pace = _pace(alone, beside)
    answered, end_s = max(1, len(both.batch.ended_at_s)), max(both.batch.ended_at_s, default=beside.until_s)
    beside_pace = _pace(both.batch, beside)
    return BatchReport(
        lines=sum(one < beside.until_s for one in both.batch.ended_at_s),
        lines_per_s=beside_pace,
        alone_lines_per_s=pace,
        load=load,
        left_over_lines_per_s=max(0.0, 1.0 - load) * pace,
        attainment_without=_attainment(without, trial.slo, traffic.requests),
        attainment_with=_attainment(both, trial.slo, traffic.requests),
        prefix_hit_share=both.batch.cached_tokens / (answered * (batch.shared_tokens + batch.own_tokens)),
        pools=tuple(
            BatchPoolShare(
                pool=pool.name,
                lines_per_s=beside_pace * both.batch.pools[pool.name] / answered,
                in_flight_mean=both.batch.inside_s[pool.name] / end_s,
            )
            for pool in pools
        ),
    )


def _pace(tally: BatchTally, batch: SimulatedBatch) -> float:
    """Until its last line was answered, or its time was over."""
    end_s = batch.until_s
    if len(tally.ended_at_s) == batch.lines:
        end_s = min(end_s, max(tally.ended_at_s))
    return sum(one <= end_s for one in tally.ended_at_s) / end_s if end_s else 0.0


def _attainment(tally: SimulationTally, slo: Slo, came: int) -> float:
    kept = sum(
        ttft_s <= slo.ttft_s and itl_s <= slo.itl_s for ttft_s, itl_s in zip(tally.ttft_s, tally.itl_s, strict=True)
    )
    return kept / came
