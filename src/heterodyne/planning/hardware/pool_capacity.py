"""How many requests per second pools carry within their promise, and what is left of that when a replica is gone."""

from collections.abc import Sequence

from msgspec import Struct

from heterodyne.physics.memory import Layout
from heterodyne.physics.profile import Profile
from heterodyne.physics.replica.from_layout import placement_of
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.serving import Slo
from heterodyne.physics.step_time import Speculation
from heterodyne.planning.hardware.sustained import SHARE, Shortfall, sustained_load
from heterodyne.planning.traffic.request_shape import RequestShape


class PoolCapacity(Struct, frozen=True, kw_only=True):
    """What is known of one pool's replicas that take work."""

    pool: str
    replicas: int
    replica_requests_per_s: float | None  # None: no performance model


class ReplicaLoss(Struct, frozen=True, kw_only=True):
    """The pool whose replica would be missed most, and the load on the others without it."""

    pool: str
    load_after: float | None  # None: not known, or nothing is left to load
    is_enough: bool | None  # whether the others carry it all; None: not known


def replica_requests_per_s(
    layout: Layout,
    profile: Profile,
    scheduling: Scheduling,
    *,
    shape: RequestShape,
    slo: Slo,
    share: float = SHARE,
    speculation: Speculation | None = None,
) -> float:
    """Of one replica with requests of this shape, the share of them within the service level, nothing cached.

    0 where one request alone is too slow.
    """
    clock = StepClock(placement_of(layout), profile, speculation=speculation)
    load = sustained_load(clock, scheduling, shape, slo, share=share)
    return 0.0 if isinstance(load, Shortfall) else load.requests_per_s


def capacity_of(pools: Sequence[PoolCapacity]) -> float | None:
    """Requests per second of the pools that are known; None: none of them is."""
    known = [one.replicas * one.replica_requests_per_s for one in pools if one.replica_requests_per_s is not None]
    return sum(known) if known else None


def load_of(requests_per_s: float, room: float | None) -> float | None:
    """The share of the room that is taken; None where there is no room to take a share of."""
    return None if not room else requests_per_s / room


def worst_loss(pools: Sequence[PoolCapacity], requests_per_s: float) -> ReplicaLoss | None:
    """None where there is no second replica to carry what the lost one did."""
    up = [one for one in pools if one.replicas]
    if sum(one.replicas for one in up) < 2:
        return None
    known = [one for one in up if one.replica_requests_per_s is not None]
    if not known:
        return ReplicaLoss(pool=up[0].pool, load_after=None, is_enough=None)
    most = max(known, key=lambda one: one.replica_requests_per_s or 0.0)
    left = (capacity_of(known) or 0.0) - (most.replica_requests_per_s or 0.0)
    return ReplicaLoss(pool=most.pool, load_after=load_of(requests_per_s, left), is_enough=requests_per_s <= left)
