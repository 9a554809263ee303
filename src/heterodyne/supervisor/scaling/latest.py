"""The last look at one model, and what it says of each pool and of a wait."""

from msgspec import Struct

from heterodyne.console.scaling.pages import PoolNowRow
from heterodyne.domain.fleet import PoolName, Wake
from heterodyne.domain.replica_stage import COMING, ReplicaStage
from heterodyne.domain.start_time import StartTime
from heterodyne.planning.scaling.autoscaler import ScalingDecision
from heterodyne.planning.scaling.first_start import first_start
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.scaling.observation import Observation
from heterodyne.supervisor.fleet.driven_fleet import DrivenFleet
from heterodyne.supervisor.scaling.scaled_fleet import NOBODY


class Latest(Struct, frozen=True, kw_only=True):
    """What was seen, what was allowed, and what was decided."""

    seen: Observation
    rules: ScalingRules
    decision: ScalingDecision
    speed: float  # of its times


def told_wait_s(latest: Latest, now_s: float) -> float | None:
    """What a request that comes now is told; None: a replica is ready."""
    if any(one.count(ReplicaStage.READY) for one in latest.seen.pools):
        return None
    return wake_of(latest, now_s, now_s).wait_s(now_s)


def wake_of(latest: Latest, now_s: float, clock_s: float) -> Wake:
    """For workers, whose clock says `clock_s` at `now_s`."""
    speed = latest.speed
    wake = first_start(latest.rules, latest.decision.state, latest.seen, now_s * speed)
    return Wake(
        start=StartTime(usual_s=wake.start.usual_s / speed, spread=wake.start.spread),
        asked_at_s=None if wake.asked_at_s is None else clock_s - (now_s - wake.asked_at_s / speed),
    )


def pool_row(
    name: PoolName, latest: Latest, driven: DrivenFleet, now_s: float, *, away_since_s: float | None
) -> PoolNowRow:
    """One pool for the page; `away_since_s` None: its driver answers."""
    pool, seen, limits = driven.pools().get(name), latest.seen.pool(name), latest.rules.limits(name)
    starts = latest.decision.state.starts(latest.rules, name)
    problems = [] if pool is None else [one.problem for one in pool.replicas if one.problem is not None]
    away = driven.problem_of(name)
    return PoolNowRow(
        pool=name,
        driver=driven.driver_of(name),
        minimum=limits.minimum,
        maximum=limits.maximum,
        wanted=len(seen.replicas) if pool is None else pool.wanted,
        ready=seen.count(ReplicaStage.READY),
        warming=seen.count(*COMING),
        draining=seen.count(ReplicaStage.DRAINING),
        cold_start_s=starts.usual_s / latest.speed,
        cold_starts=len(starts.measured_s),
        problem=away or (pool.problem if pool is not None else NOBODY) or next(iter(problems), None),
        away_s=None if away_since_s is None else now_s - away_since_s,
    )
