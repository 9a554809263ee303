"""Pure: what a model is short of, why, and what would mend it, for the page, the alerts and the metrics."""

from collections.abc import Mapping

from msgspec import Struct

from heterodyne.console.scaling.pages import PoolNowRow, ShortCause, ShortRow
from heterodyne.domain.fleet import PoolName
from heterodyne.planning.scaling.autoscaler import ScalingDecision
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules

MENDS = {
    ShortCause.MODE: 'set autoscaling.mode = "act", or add replicas by hand',
    ShortCause.OTHER_SCALER: "leave the pool to one of the two: remove its autoscaling table here, or the other scaler",
    ShortCause.GATEWAY: "look at the gateway that leads, and at stores.url and stores.fleet_url",
    ShortCause.DRIVER: "mend what the driver names; replicas are asked for at the next look after that",
}


class Obstacle(Struct, frozen=True, kw_only=True):
    """Why steps are not carried out."""

    cause: ShortCause
    because: str


class Standing(Struct, frozen=True, kw_only=True):
    """One model, as far as it matters here."""

    model: str
    rules: ScalingRules
    decision: ScalingDecision
    pools: tuple[PoolNowRow, ...]
    said: Mapping[PoolName, int]  # `maximum` of each pool in the settings; a driver may allow less
    obstacle: Obstacle | None = None
    refusals: tuple[str, ...] = ()  # what drivers said to the last steps


def short_of(at: Standing, *, speed: float = 1.0) -> ShortRow | None:
    """None: enough is there or coming, or nothing is in the way while some come. Its figure is in requests a second of
    the wall's clock."""
    decision = at.decision
    missing = decision.need.requests_per_s - decision.capacity
    if missing <= 0:
        return None
    cause, because, mend = _why(at)
    if cause is ShortCause.NEXT_LOOK and any(one.warming for one in at.pools):
        return None
    return ShortRow(requests_per_s=missing * speed, cause=cause, because=because, mend=mend)


def _why(at: Standing) -> tuple[ShortCause, str, str]:
    obstacle = at.obstacle
    if obstacle is not None:
        resume = f"`heterodyne scale resume {at.model}`"
        return obstacle.cause, obstacle.because, MENDS.get(obstacle.cause, resume)
    counts = {one.pool: one.ready + one.warming for one in at.pools}
    rooms = [one for one in at.rules.pools if counts[one.pool] < one.maximum]
    if not rooms:
        return _bound(at)
    budget = at.rules.budget_usd_per_hour
    if budget is not None:
        usd = sum(counts[one.pool] * one.usd_per_hour for one in at.rules.pools)
        rooms = [one for one in rooms if usd + one.usd_per_hour <= budget]
        if not rooms:
            because = f"the replicas cost {usd:.2f} USD an hour, and {budget:.2f} are allowed"
            return ShortCause.BUDGET, because, "raise autoscaling.budget_usd_per_hour"
    names = {one.pool for one in rooms}
    problems = [f"{one.pool}: {one.problem}" for one in at.pools if one.pool in names and one.problem is not None]
    troubles = (*at.refusals, *problems)
    if at.refusals or len(problems) == len(rooms):
        return ShortCause.DRIVER, troubles[0], MENDS[ShortCause.DRIVER]
    return ShortCause.NEXT_LOOK, "replicas are asked for at the next look", ""


def _bound(at: Standing) -> tuple[ShortCause, str, str]:
    """No pool may have more."""
    lowered = [one for one in at.rules.pools if one.maximum < at.said.get(one.pool, one.maximum)]
    if lowered:
        because = ", ".join(
            f"the driver of {one.pool} allows {one.maximum} replicas and autoscaling.maximum {at.said[one.pool]}"
            for one in lowered
        )
        return ShortCause.QUOTA, because, "raise the quota, or give the driver's machines more room"
    because = ", ".join(f"{one.pool} has {one.maximum} replicas, and more are not allowed" for one in at.rules.pools)
    wanted = at.rules.with_headroom(at.decision.need.requests_per_s) / at.decision.state.trust
    mends = [
        f"pools.{one.pool}.autoscaling.maximum to {_enough(at.rules, one, wanted)}"
        for one in at.rules.pools
        if one.maximum
    ]
    return ShortCause.MAXIMUM, because, f"raise {' or '.join(mends)}" if mends else "raise a maximum"


def _enough(rules: ScalingRules, limits: PoolLimits, wanted: float) -> int:
    """Replicas of one pool with which all of it is carried, when the others have their most."""
    others = sum(one.capacity.requests_per_s(one.maximum) for one in rules.pools if one is not limits)
    return max(limits.maximum + 1, limits.capacity.replicas_for(wanted - others) + rules.spare)
