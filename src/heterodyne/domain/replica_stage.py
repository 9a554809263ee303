"""Where a replica of a pool that grows and shrinks is, between being asked for and being gone."""

from enum import StrEnum


class ReplicaStage(StrEnum):
    """One step of its life."""

    PENDING = "pending"  # asked for, no machine yet
    WARMING = "warming"  # a machine, its engine not ready
    READY = "ready"
    DRAINING = "draining"  # finishes what it has


COMING = (ReplicaStage.PENDING, ReplicaStage.WARMING)
PROVIDED = (*COMING, ReplicaStage.READY)  # what is there to stay
