"""Pure: why a replica that a model's rule allows may not be asked now, in a few words; empty where it may."""

from heterodyne.domain.counted import counted
from heterodyne.domain.fleet import Health, Replica
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.routing.health.snapshot import Obstacle, ReplicaHealthSnapshot


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


def by_role(replica: Replica) -> str:
    """What it is there for."""
    return "computes prompts for others and answers nobody" if replica.role is ReplicaRole.PREFILL else ""


def by_health(replica_health: ReplicaHealthSnapshot, now_s: float) -> str:
    """What its answers have shown."""
    match replica_health.obstacle:
        case Obstacle.EJECTED:
            left_s = (replica_health.ejected_until_s or now_s) - now_s
            return f"ejected after failures, for {max(0.0, left_s):.0f} s more"
        case Obstacle.BREAKER_OPEN:
            return "its breaker is open after failures"
        case Obstacle.TRIAL_RUNNING:
            return "its breaker lets one trial request through at a time"
        case Obstacle.FULL:
            return f"full: {counted(replica_health.in_flight, 'request')} of at most {replica_health.in_flight_limit}"
        case Obstacle.PAUSED:
            return "paused: its engine has just said that it is busy"
        case Obstacle.RATE_LIMITED:
            return "rate limited: its provider says that nothing is left of a limit"
    if replica_health.weight < 1.0:
        return f"coming back: it takes {replica_health.weight:.0%} of its share for now"
    return ""
