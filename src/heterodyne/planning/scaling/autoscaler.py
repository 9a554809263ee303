"""One look: what was seen becomes a need, the need becomes actions, and everything remembered is handed back.

    decision = scale(rules, state, seen)
    state = decision.state

Two loops meet here. The slow one knows what usually comes at this time and sets a floor; the fast one knows what comes
now and where it goes, and rises above it. Going up is at once, and an action under way may be enlarged; going down is
one action at a time, after a window in which less was enough. Nothing here waits, and nothing is left to chance.
"""

from collections.abc import Mapping

from msgspec import Struct, structs

from heterodyne.domain.fleet import PoolName
from heterodyne.domain.replica_stage import PROVIDED, ReplicaStage
from heterodyne.planning.scaling.action import ActionKind, ScalingAction, ScalingReason
from heterodyne.planning.scaling.grow import growth
from heterodyne.planning.scaling.hardware_choice import capacity
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.scaling.need import Need, need_of
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.shrink import shrinkage
from heterodyne.planning.scaling.situation import Situation
from heterodyne.planning.scaling.state import ScalingState, observed
from heterodyne.planning.scaling.steadiness import DOWN, UP, window_s
from heterodyne.planning.scaling.trust import corrected


class ScalingDecision(Struct, frozen=True, kw_only=True):
    """What is to be done, what it rests on, and what to remember."""

    at_s: float
    actions: tuple[ScalingAction, ...]  # one at least: a hold says why nothing is done
    need: Need
    capacity: float  # of the replicas that are there or coming, as far as it is trusted
    state: ScalingState


def scale(rules: ScalingRules, state: ScalingState, seen: Observation) -> ScalingDecision:
    """Decide."""
    state = observed(state, rules, seen)
    starts = {one.pool: state.starts(rules, one.pool) for one in rules.pools}
    lead_s = min(one.late_s for one in starts.values())
    need = need_of(state, seen, lead_s=lead_s)
    provided = {one.pool: _staying(seen, one.pool, *PROVIDED) for one in rules.pools}
    ready = {one.pool: _staying(seen, one.pool, ReplicaStage.READY) for one in rules.pools}
    state = _settled(state, rules, seen, need, ready)
    span_s = window_s(lead_s)
    wanted = rules.with_headroom(need.requests_per_s) / state.trust
    state = structs.replace(state, steadiness=state.steadiness.with_need(seen.at_s, wanted, span_s))
    actions = _actions(
        Situation(rules=rules, state=state, seen=seen, need=need, provided=provided, starts=starts, lead_s=lead_s)
    )
    direction = _direction(actions)
    if direction:
        state = structs.replace(state, steadiness=state.steadiness.with_step(seen.at_s, direction))
    return ScalingDecision(
        at_s=seen.at_s,
        actions=actions,
        need=need,
        capacity=capacity(rules, provided) * state.trust,
        state=state,
    )


def _actions(at: Situation) -> tuple[ScalingAction, ...]:
    leaving = _noticed(at.seen)
    grown = growth(at)
    return (*leaving, *(grown or shrinkage(at)))


def _staying(seen: Observation, pool: PoolName, *stages: ReplicaStage) -> int:
    """Replicas whose machine is about to be taken away are as good as gone."""
    return sum(one.stage in stages and one.taken_at_s is None for one in seen.pool(pool).replicas)


def _noticed(seen: Observation) -> tuple[ScalingAction, ...]:
    """Those that are to be taken away take nothing new from now on."""
    return tuple(
        ScalingAction(
            kind=ActionKind.DRAIN,
            pool=pool.pool,
            replicas=(one.id,),
            reason=ScalingReason.SPOT_NOTICE,
            because=f"its machine is taken away in {max(0.0, one.taken_at_s - seen.at_s):.0f} s",
            otherwise="what it still runs then would break off",
        )
        for pool in seen.pools
        for one in pool.replicas
        if one.taken_at_s is not None and one.stage is not ReplicaStage.DRAINING
    )


def _settled(
    state: ScalingState, rules: ScalingRules, seen: Observation, need: Need, ready: Mapping[PoolName, int]
) -> ScalingState:
    """What was seen of lateness corrects the capacity, once the replicas have been enough for a while."""
    written = capacity(rules, ready)
    is_enough = bool(written) and need.demand.now <= written * state.trust
    since_s = state.enough_since_s if is_enough else None
    if is_enough and since_s is None and not need.backlog:
        since_s = seen.at_s  # what waits from then on is no longer a shortage's
    trust = corrected(state.trust, state.lateness, allowed=1.0 - rules.share, now_s=seen.at_s, enough_since_s=since_s)
    if trust < state.trust:
        since_s = seen.at_s  # what it leads to is seen first
    return structs.replace(state, trust=trust, enough_since_s=since_s)


def _direction(actions: tuple[ScalingAction, ...]) -> int:
    """A replica lost to a notice and replaced is no step."""
    chosen = [one for one in actions if one.reason is not ScalingReason.SPOT_NOTICE]
    if any(one.kind in {ActionKind.ADD, ActionKind.KEEP} for one in chosen):
        return UP
    return DOWN if any(one.kind is ActionKind.DRAIN for one in chosen) else 0
