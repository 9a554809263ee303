"""The fleet as the data plane sees it: frozen, versioned, buildable in a test without a cluster."""

from enum import StrEnum
from typing import NewType, Self

from msgspec import Struct

PoolName = NewType("PoolName", str)
ReplicaId = NewType("ReplicaId", str)


class Health(StrEnum):
    """Whether a replica may be given work."""

    STARTING = "starting"
    READY = "ready"
    DOWN = "down"


class Purpose(StrEnum):
    """What a model is for."""

    GENERATE = "generate"
    EMBED = "embed"


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
    purpose: Purpose | None = None  # None: whatever the engine answers
    api_key_env: str | None = None
    tool_call_opening: str | None = None  # what a tool call begins with, for engines that must be led to one
    health: Health = Health.STARTING


class FleetSnapshot(Struct, frozen=True, kw_only=True):
    """Every replica at one moment; a new version replaces the old one whole."""

    version: int
    replicas: tuple[Replica, ...]
    by_model: dict[str, tuple[Replica, ...]]

    @classmethod
    def of(cls, version: int, replicas: tuple[Replica, ...]) -> Self:
        """A snapshot of these replicas, models in the order they are first named."""
        by_model: dict[str, tuple[Replica, ...]] = {}
        for replica in replicas:
            by_model[replica.model] = (*by_model.get(replica.model, ()), replica)
        return cls(version=version, replicas=replicas, by_model=by_model)
