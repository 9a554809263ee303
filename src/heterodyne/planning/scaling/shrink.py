"""The way down: less has been enough for a whole window, and will be."""

from heterodyne.domain.fleet import PoolName
from heterodyne.domain.replica_stage import COMING, ReplicaStage
from heterodyne.planning.scaling.action import ActionKind, ScalingAction, ScalingReason
from heterodyne.planning.scaling.hardware_choice import capacity, given_up, removals, usd_per_hour
from heterodyne.planning.scaling.need import FLOOR_MIN
from heterodyne.planning.scaling.situation import Situation
from heterodyne.planning.scaling.steadiness import DOWN, window_s

# Beyond what was needed at most: who goes down to the brim goes up again at once. In errors of the mean, so that a
# small fleet, whose demand is known less well, keeps more.
SLACK, SLACK_ERRORS = 0.01, 1.0
FALLEN_WINDOW_S = 120.0  # of needs, where demand has fallen beyond doubt
TURN_SLACK, TURN_SLACK_ERRORS = 0.03, 2.0  # for a step that changes the direction


def shrinkage(at: Situation) -> tuple[ScalingAction, ...]:
    """What can go, or a hold that says why nothing does."""
    over = _over_maximum(at)
    if over:
        return over
    if not sum(at.provided.values()):
        return (_hold(ScalingReason.IDLE, "nothing is asked for and nothing runs", "a replica would wait for nobody"),)
    state, now_s, span_s = at.state, at.seen.at_s, window_s(at.lead_s)
    floor = state.floor.between(now_s, now_s + at.lead_s + span_s)
    idle = _emptied(at, floor)
    if idle:
        return idle
    peak = state.steadiness.peak(now_s, max(FALLEN_WINDOW_S, at.lead_s) if at.need.demand.has_fallen else span_s)
    less = removals(
        at.rules, at.provided, max((1.0 + _slack(at)) * peak, at.rules.with_headroom(floor) / state.trust), at.starts
    )
    if not less:
        return (_enough(at, peak * state.trust),)
    hindrance = _hindrance(at, span_s, sum(less.values()) / sum(at.provided.values()))
    if hindrance:
        return (hindrance,)
    return tuple(_drain(at, pool, count, peak * state.trust) for pool, count in less.items())


def _slack(at: Situation) -> float:
    demand = at.need.demand
    error = demand.error / demand.mean if demand.mean else 0.0
    if at.state.steadiness.direction == DOWN:
        return SLACK + SLACK_ERRORS * error
    return TURN_SLACK + TURN_SLACK_ERRORS * error


def _over_maximum(at: Situation) -> tuple[ScalingAction, ...]:
    return tuple(
        ScalingAction(
            kind=ActionKind.DRAIN,
            pool=one.pool,
            replicas=given_up(at.seen.pool(one.pool), at.provided[one.pool] - one.maximum),
            reason=ScalingReason.MAXIMUM,
            because=f"{at.provided[one.pool]} replicas, and {one.maximum} is the most",
            otherwise="the pool would be larger than its settings allow",
        )
        for one in at.rules.pools
        if at.provided[one.pool] > one.maximum
    )


def _emptied(at: Situation, floor: float) -> tuple[ScalingAction, ...]:
    """Pools that may be empty, when nothing has come for long enough and nothing is about to."""
    seen, rules, came_at_s = at.seen, at.rules, at.state.last_came_at_s
    if seen.in_flight or seen.waiting or came_at_s is None or seen.at_s - came_at_s < rules.idle_s:
        return ()
    if (floor >= FLOOR_MIN and at.state.floor.knows_when) or any(one.minimum for one in rules.pools):
        return ()
    return tuple(
        ScalingAction(
            kind=ActionKind.DRAIN,
            pool=one.pool,
            replicas=given_up(seen.pool(one.pool), at.provided[one.pool]),
            reason=ScalingReason.IDLE,
            because=f"no request has come for {seen.at_s - came_at_s:.0f} s",
            otherwise=f"{usd_per_hour((one,), at.provided):.2f} USD an hour would be paid for waiting",
        )
        for one in rules.pools
        if at.provided[one.pool]
    )


def _hindrance(at: Situation, span_s: float, share: float) -> ScalingAction | None:
    """Why what could go stays for now."""
    seen, steadiness = at.seen, at.state.steadiness
    if not steadiness.is_seen(seen.at_s, span_s):
        return _hold(ScalingReason.UNSEEN, f"demand has been watched for less than {span_s:.0f} s", "")
    moving = [one for pool in seen.pools for one in pool.replicas if one.stage in {*COMING, ReplicaStage.DRAINING}]
    if moving:
        return _hold(ScalingReason.IN_FLIGHT, f"{len(moving)} replicas still come or leave", "two steps would overlap")
    if not steadiness.may_turn_down(seen.at_s, share):
        because = "the direction has changed often in the last hour"
        return _hold(ScalingReason.TURNED_OFTEN, because, "the fleet would flap")
    return None


def _drain(at: Situation, pool: PoolName, count: int, peak: float) -> ScalingAction:
    usd = count * at.rules.limits(pool).usd_per_hour
    left = sum(at.provided.values()) - count
    return ScalingAction(
        kind=ActionKind.DRAIN,
        pool=pool,
        replicas=given_up(at.seen.pool(pool), count),
        reason=ScalingReason.SPARE_CAPACITY,
        because=f"{peak:.2f} usual requests/s at most were needed lately, which {left} replicas carry",
        otherwise=f"{usd:.2f} USD an hour would be paid for nothing",
    )


def _enough(at: Situation, peak: float) -> ScalingAction:
    needed, carried = at.need.requests_per_s, capacity(at.rules, at.provided) * at.state.trust
    if peak > needed * 1.1:
        because = f"{peak:.2f} usual requests/s were needed a moment ago, {needed:.2f} are now"
        return _hold(ScalingReason.COOLING_DOWN, because, "the next rise would find a replica too few")
    because = f"{needed:.2f} usual requests/s are needed, {carried:.2f} are carried"
    return _hold(ScalingReason.ENOUGH, because, "one replica fewer would be too few")


def _hold(reason: ScalingReason, because: str, otherwise: str) -> ScalingAction:
    return ScalingAction(kind=ActionKind.HOLD, reason=reason, because=because, otherwise=otherwise)
