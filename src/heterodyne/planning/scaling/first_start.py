"""What a request is told that comes while nothing is ready: when the first replica will be."""

from heterodyne.domain.fleet import PoolName, Wake
from heterodyne.domain.replica_stage import COMING
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.state import ScalingState


def first_start(rules: ScalingRules, state: ScalingState, seen: Observation, now_s: float) -> Wake:
    """Of the pool that is ready first; times are those of the looks."""
    wakes = [_wake(state, rules, seen, one.pool) for one in rules.pools]
    coming = [one for one in wakes if one.asked_at_s is not None]
    return min(coming or wakes, key=lambda one: one.wait_s(now_s))


def _wake(state: ScalingState, rules: ScalingRules, seen: Observation, pool: PoolName) -> Wake:
    asked = [one.asked_at_s for one in seen.pool(pool).replicas if one.stage in COMING]
    return Wake(start=state.starts(rules, pool).next, asked_at_s=min(asked, default=None))
