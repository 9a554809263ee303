"""What the autoscaler would have done with a fleet under a log: every step with its reason, and what it came to."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.fleet.pool_scaling import PoolScaling
from heterodyne.planning.scaling.action import ActionKind
from heterodyne.planning.scaling.autoscaler import ScalingDecision
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.autoscaling_table import pool_limits
from heterodyne.simulator.capacity_curve import capacity_curve, counts_to, evenly
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.growing_fleet import GrowingFleet, GrowingPool
from heterodyne.simulator.growth_tally import GrowthReport
from heterodyne.simulator.own_scaler import OwnScaler
from heterodyne.simulator.promise import Promise
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

FIRST_S = 300.0  # of the log: the fleet begins with what they need


class ScalingStep(Struct, frozen=True, kw_only=True):
    """One action."""

    at_s: float
    action: str
    pool: str
    count: int
    reason: str
    because: str
    otherwise: str


class RehearsedScaling(Struct, frozen=True, kw_only=True):
    """The whole answer."""

    steps: tuple[ScalingStep, ...]
    report: GrowthReport
    first: dict[str, int]  # replicas of each pool when the log begins
    most: int  # replicas at once
    fixed_replica_hours: float  # of a fleet that always has the most


class ScalingTerms(Struct, frozen=True, kw_only=True):
    """What is asked for."""

    promise: Promise
    policy: str
    seed: int
    spare: int = 0
    budget_usd_per_hour: float | None = None
    forecasts: bool = True


def rehearse_scaling(
    pools: Sequence[LaidOutPool],
    tables: dict[str, PoolScaling],
    log: Sequence[TraceRequest],
    terms: ScalingTerms,
    *,
    on_arrivals: Callable[[int], None] = lambda _: None,
) -> RehearsedScaling:
    """Each pool has as many replicas as its table allows at most."""
    if not log:
        raise InvalidSpec("the trace is empty: it has no request with a prompt")
    trial = Trial(policy=terms.policy, seed=terms.seed, slo=terms.promise.slo, gauge_interval_s=2.0, gauge_turns=1)
    even = evenly(log, seed=terms.seed)
    curves = {
        pool.name: capacity_curve(
            pool, even, trial, share=terms.promise.share, counts=counts_to(tables[pool.name].maximum)
        )
        for pool in pools
    }
    scaler = OwnScaler(
        ScalingRules(
            pools=tuple(
                pool_limits(tables[pool.name], pool.name, curves[pool.name], pool.replicas[0].price.usd_per_hour or 0.0)
                for pool in pools
            ),
            share=terms.promise.share,
            spare=terms.spare,
            budget_usd_per_hour=terms.budget_usd_per_hour,
            forecasts=terms.forecasts,
        )
    )
    first = _first(pools, tables, curves, log)
    growing = GrowingFleet(
        [_growing(pool, tables[pool.name], first[pool.name]) for pool in pools],
        scaler,
        trial.slo,
        seed=terms.seed,
        tells=scaler.told_wait_s,
    )
    traffic = workload(log)
    run(pools, traffic, trial, growing=growing, on_arrivals=on_arrivals)
    span_s = traffic.arrivals[-1].at_s
    tally = growing.close(span_s)
    most = max(provided for _, provided, _, _ in tally.counts)
    return RehearsedScaling(
        steps=tuple(step for decision in scaler.steps for step in _steps(decision)),
        report=tally.report(),
        first=first,
        most=most,
        fixed_replica_hours=most * span_s / 3600,
    )


def _growing(pool: LaidOutPool, table: PoolScaling, first: int) -> GrowingPool:
    return GrowingPool(
        pool=pool, first=first, cold_start_s=table.cold_start_s, cold_start_spread=table.cold_start_spread
    )


def _first(
    pools: Sequence[LaidOutPool],
    tables: dict[str, PoolScaling],
    curves: dict[str, CapacityCurve],
    log: Sequence[TraceRequest],
) -> dict[str, int]:
    """The least of every pool, and of the first as many more as the first minutes need."""
    begin_s = min(one.at_s for one in log)
    rate = sum(one.at_s < begin_s + FIRST_S for one in log) / FIRST_S
    first = {pool.name: tables[pool.name].minimum for pool in pools}
    name = pools[0].name
    if first[name]:
        first[name] = min(tables[name].maximum, max(first[name], curves[name].replicas_for(rate)))
    return first


def _steps(decision: ScalingDecision) -> list[ScalingStep]:
    return [
        ScalingStep(
            at_s=decision.at_s,
            action=one.kind,
            pool=one.pool or "",
            count=one.count or len(one.replicas),
            reason=one.reason,
            because=one.because,
            otherwise=one.otherwise,
        )
        for one in decision.actions
        if one.kind is not ActionKind.HOLD
    ]
