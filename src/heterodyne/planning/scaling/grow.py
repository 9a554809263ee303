"""The way up: what is there or coming carries less than is needed."""

from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.planning.scaling.action import ActionKind, ScalingAction, ScalingReason
from heterodyne.planning.scaling.hardware_choice import Counts, additions, capacity
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.scaling.need import Need
from heterodyne.planning.scaling.situation import Situation

DOUBTED = 0.95  # trust below which lateness is the reason, where the capacity as written would do
ANY = 1e-6  # usual requests a second that one replica is needed for


def growth(at: Situation) -> tuple[ScalingAction, ...]:
    """Nothing where it is enough."""
    least = _to_minimum(at.rules, at.provided)
    if least:
        return least
    wanted, have = at.rules.with_headroom(at.need.requests_per_s) / at.state.trust, capacity(at.rules, at.provided)
    is_doubted = at.state.trust < DOUBTED and at.need.requests_per_s <= have
    reason = ScalingReason.MISSES if is_doubted else at.need.reason
    if not sum(at.provided.values()):
        if at.seen.held:
            wanted, reason = max(wanted, ANY), ScalingReason.WAKE
        elif reason is not ScalingReason.FORECAST:
            return ()  # what has passed wakes nobody
    if wanted <= have:
        return ()
    back, counts = _taken_back(at, wanted, reason)
    more, is_enough = additions(at.rules, counts, wanted, at.starts)
    because, otherwise = _because(at, have, reason), _otherwise(at.need, have * at.state.trust)
    if not is_enough:
        because += "; limits allow no more than this"
    added = tuple(
        ScalingAction(kind=ActionKind.ADD, pool=pool, count=count, reason=reason, because=because, otherwise=otherwise)
        for pool, count in more.items()
    )
    if not back and not added:
        hold = ScalingAction(kind=ActionKind.HOLD, reason=ScalingReason.LIMITS, because=because, otherwise=otherwise)
        return (hold,)
    return (*back, *added)


def _to_minimum(rules: ScalingRules, provided: Counts) -> tuple[ScalingAction, ...]:
    return tuple(
        ScalingAction(
            kind=ActionKind.ADD,
            pool=one.pool,
            count=one.minimum - provided[one.pool],
            reason=ScalingReason.MINIMUM,
            because=f"{provided[one.pool]} replicas, and {one.minimum} is the least",
            otherwise="the pool would be smaller than its settings allow",
        )
        for one in rules.pools
        if provided[one.pool] < one.minimum
    )


def _taken_back(at: Situation, wanted: float, reason: ScalingReason) -> tuple[tuple[ScalingAction, ...], Counts]:
    """A replica that drains is ready at once, which none that is started is."""
    counts, back = dict(at.provided), []
    for limits in at.rules.pools:
        draining = [
            one
            for one in at.seen.pool(limits.pool).replicas
            if one.stage is ReplicaStage.DRAINING and one.taken_at_s is None
        ]
        kept = []
        for one in sorted(draining, key=lambda one: -one.in_flight):
            if capacity(at.rules, counts) >= wanted or counts[limits.pool] >= limits.maximum:
                break
            counts[limits.pool] += 1
            kept.append(one.id)
        if kept:
            back.append(
                ScalingAction(
                    kind=ActionKind.KEEP,
                    pool=limits.pool,
                    replicas=tuple(kept),
                    reason=reason,
                    because="more is needed again, and it has not left yet",
                    otherwise="another would have to be started",
                )
            )
    return tuple(back), counts


def _because(at: Situation, written: float, reason: ScalingReason) -> str:
    need, seen, have = at.need, at.seen, written * at.state.trust
    carry = f"{sum(at.provided.values())} replicas carry {have:.2f} within the promise"
    if reason is ScalingReason.WAKE:
        return f"{seen.held} requests are held and no replica is ready or coming"
    if reason is ScalingReason.MISSES:
        return f"too many requests are late: {carry}, not the {written:.2f} that was said"
    if reason is ScalingReason.FORECAST:
        return f"{need.floor:.2f} usual requests/s are forecast for when another would be ready, and {carry}"
    if reason is ScalingReason.BACKLOG:
        return f"{seen.waiting} requests wait, which is {need.backlog:.2f} a second more to carry, and {carry}"
    if reason is ScalingReason.TREND:
        return (
            f"{need.demand.now:.2f} usual requests/s come, {need.ahead:.2f} by the time another is ready, and {carry}"
        )
    return f"{need.demand.now:.2f} usual requests/s come, and {carry}"


def _otherwise(need: Need, have: float) -> str:
    over = 1.0 - have / need.requests_per_s if need.requests_per_s else 0.0
    return f"{max(0.0, over):.0%} of what comes would be more than the promise bears" if have else "nobody would answer"
