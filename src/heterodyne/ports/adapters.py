"""What a request for a LoRA adapter needs from their loader."""

from collections.abc import Callable
from typing import Protocol

from heterodyne.domain.adapter import Nearness
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId

Ready = Callable[[EngineError | None], None]  # None: the replica has it


class AdapterUse(Protocol):
    """One request's claim on an adapter at a replica: until it ends the adapter is not taken away."""

    def when_ready(self, then: Ready) -> None:
        """Call `then` once the replica has the adapter, at once where it has, or with the reason why it will not."""
        ...

    def end(self) -> None:
        """The request is over, or no longer wants to wait."""
        ...


class Adapters(Protocol):
    """The LoRA adapters that replicas hold."""

    def nearness(self, replica: Replica, name: str) -> Nearness: ...

    def use(self, replica: Replica, name: str) -> AdapterUse: ...

    @property
    def uses(self) -> int:
        """Claims that have not ended."""
        ...

    def doubt(self, replica: ReplicaId, name: str) -> bool:
        """The replica does not know the adapter; whether it was thought to."""
        ...

    def publish(self, snapshot: FleetSnapshot) -> None:
        """A newer fleet."""
        ...
