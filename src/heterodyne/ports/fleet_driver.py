"""What the autoscaler asks of whatever runs replicas: this machine, Kubernetes, Ray.

A driver knows counts, addresses and stages, and nothing of requests. Who is to leave has been drained by the gateway
before the driver hears of it, so a driver ends what it is told to; the count is what it is asked for, and how it gets
there is its own affair.

    driver.run()                      as long as the supervisor lives: children, or a watch with resync
    pools = await driver.look()       every few seconds
    await driver.scale(pool, 3, seen=2)
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage


class DrivenReplica(Struct, frozen=True, kw_only=True):
    """One replica as its driver has it, from being asked for until it is gone."""

    id: ReplicaId  # of one life: what takes the place of a replica on another machine has another
    stage: ReplicaStage
    asked_at_s: float  # seconds since the epoch
    ready_at_s: float | None = None  # when the driver first saw it ready; None: it has not been
    replica: Replica | None = None  # how gateways reach it; None: it has no address yet
    taken_at_s: float | None = None  # when its machine is taken away, by a spot notice; None: it may stay
    problem: str | None = None  # why it does not come, with the path of the object: `Pod llm/chat-7: ImagePullBackOff`


class DrivenPool(Struct, frozen=True, kw_only=True):
    """One pool that the driver may change."""

    pool: PoolName
    wanted: int  # what was asked for last, by whomever
    replicas: tuple[DrivenReplica, ...] = ()  # all that are not gone
    maximum: int | None = None  # more is refused: the machine's bound, a quota; None: it does not know of any
    problem: str | None = None  # of the pool as a whole, with the object's path: no rights, no such Deployment


class FleetDriver(Protocol):
    """One per platform and gateway. No call waits for replicas to be ready or gone: `look` says how far they are."""

    name: str  # for logs, metrics and messages: "local", "kubernetes", "ray"

    async def run(self) -> None:
        """Follow the platform until cancelled. A platform that is away is tried again, for as long as it takes."""
        ...

    async def look(self) -> tuple[DrivenPool, ...]:
        """Every pool of its own; raises `DriverUnavailable` where it does not know, rather than guess."""
        ...

    async def scale(self, pool: PoolName, count: int, *, seen: int, leaving: Sequence[ReplicaId] = ()) -> None:
        """Have so many replicas of a pool, and keep as many: one that dies is replaced.

        `seen` is the `wanted` that the caller decided by. Where another stands there by now, nothing is changed and
        `ScalerConflict` says who changed it, as far as that is known. `leaving` are drained and go first; a platform
        that chooses by itself whom it ends is told about them as well as it can be. A replica that is not there any
        more is no error. Asked twice, it changes something once.

        Raises `UnknownName` for a pool that is not its own, `InvalidSpec` for a count below zero, `DriverRefused`
        where the platform says no, and `DriverUnavailable` where it does not answer in time; then whether the count
        was taken is for the next `look` to say.
        """
        ...
