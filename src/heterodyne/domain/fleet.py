"""The fleet as the data plane sees it: frozen, versioned, buildable in a test without a cluster."""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

PoolName = NewType("PoolName", str)
ReplicaId = NewType("ReplicaId", str)


class Health(StrEnum):
    """Whether a replica may be given work."""

    STARTING = "starting"
    READY = "ready"
    DOWN = "down"


class Replica(Struct, frozen=True, kw_only=True):
    """One running engine endpoint."""

    id: ReplicaId
    pool: PoolName
    model: str
    engine: str  # the engine dialect's name
    host: str
    port: int
    tls: bool = False
    base_path: str = ""
    engine_model: str | None = None  # None: the engine knows the model by its public name
    context_tokens: int | None = None  # None: the engine alone knows
    operations: frozenset[str] = frozenset()
    health: Health = Health.STARTING
    retry_after_s: int = 1  # what to tell a client while this replica is not ready


class FleetSnapshot(Struct, frozen=True, kw_only=True):
    """Every replica at one moment; a new version replaces the old one whole."""

    version: int
    replicas: tuple[Replica, ...] = ()

    def serving(self, model: str) -> tuple[Replica, ...]:
        """The replicas of a model, whatever their health."""
        return tuple(replica for replica in self.replicas if replica.model == model)

    def models(self) -> tuple[str, ...]:
        """Public model names, in the order the settings list them."""
        return tuple(dict.fromkeys(replica.model for replica in self.replicas))
