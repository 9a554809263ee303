"""What rollouts ask of a database: where each stands, so that none is lost with a process."""

from typing import Protocol

from msgspec import Struct


class StoredRollout(Struct, frozen=True, kw_only=True):
    """One rollout as it was last saved. What it says of itself is JSON, which only its own room reads."""

    id: str
    model: str
    revision: int  # how often it has been saved
    began_at: float  # seconds since the epoch
    is_ended: bool
    document: str


class RolloutStore(Protocol):
    """Each call is one transaction."""

    async def rollouts(self) -> tuple[StoredRollout, ...]:
        """The latest of each model, and all that run."""
        ...

    async def history(self, model: str, most: int) -> tuple[StoredRollout, ...]:
        """Of one model, the latest first."""
        ...

    async def begin(self, rollout: StoredRollout) -> bool:
        """Whether it was added; False: one of the model is running."""
        ...

    async def save(self, rollout: StoredRollout) -> bool:
        """Whether it took the place of the revision before; False: somebody else has saved it meanwhile."""
        ...
