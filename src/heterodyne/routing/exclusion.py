"""Pure: why a replica may not be asked, in a few words; empty where it may."""

from heterodyne.domain.fleet import Health, ModelRule, Replica
from heterodyne.domain.routing_rule import Requirement
from heterodyne.routing.standing.snapshot import Obstacle, StandingSnapshot


def by_rule(replica: Replica, rule: ModelRule | None) -> str:
    """What the model's rule has against it, the same for every request."""
    if rule is None:
        return ""
    if rule.pools is not None and replica.pool not in rule.pools:
        return f"pool {replica.pool} is not among those of the model"
    if rule.regions_only and replica.region not in rule.regions_only:
        return f"region {replica.region or 'unknown'}, and only {', '.join(rule.regions_only)} may be used"
    return _by_requirement(replica, rule.requires)


def by_state(replica: Replica) -> str:
    """What it is doing instead."""
    if replica.is_draining:
        return "draining: it takes nothing new"
    if replica.health is Health.DOWN:
        return "down"
    if replica.health is Health.STARTING:
        return "starting: it has not been seen ready yet"
    if replica.load is not None and replica.load.is_asleep:
        return "asleep"
    return ""


def by_standing(standing: StandingSnapshot, now_s: float) -> str:
    """What its answers have shown."""
    match standing.obstacle:
        case Obstacle.EJECTED:
            left_s = (standing.ejected_until_s or now_s) - now_s
            return f"ejected after failures, for {max(0.0, left_s):.0f} s more"
        case Obstacle.BREAKER_OPEN:
            return "its breaker is open after failures"
        case Obstacle.TRIAL_RUNNING:
            return "its breaker lets one trial request through at a time"
        case Obstacle.FULL:
            return f"full: {standing.in_flight} requests of at most {standing.in_flight_limit}"
        case Obstacle.PAUSED:
            return "paused: its engine has just said that it is busy"
    if standing.weight < 1.0:
        return f"coming back: it takes {standing.weight:.0%} of its share for now"
    return ""


def _by_requirement(replica: Replica, requires: Requirement) -> str:
    if requires.hardware and replica.hardware not in requires.hardware:
        return f"{replica.hardware or 'unknown hardware'}, and {' or '.join(requires.hardware)} is required"
    if requires.engines and replica.engine not in requires.engines:
        return f"engine {replica.engine}, and {' or '.join(requires.engines)} is required"
    least = requires.memory_bytes_min
    if least is not None and (replica.memory_bytes or 0) < least:
        has = "unknown memory" if replica.memory_bytes is None else f"{replica.memory_bytes / 2**30:.0f} GiB"
        return f"{has}, and {least / 2**30:.0f} GiB is required"
    for label, value in requires.labels.items():
        if replica.labels.get(label) != value:
            return f"label {label} is {replica.labels.get(label, 'not set')}, and {value} is required"
    return ""
