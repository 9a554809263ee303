"""Where the KV events of engines go."""

from typing import Protocol

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_event import KvEvent


class KvSink(Protocol):
    """A replica that has left meanwhile is passed over."""

    def on_kv_event(self, replica: ReplicaId, event: KvEvent, rank: int | None, now_s: float) -> None:
        """In the order of the engine; `rank` is None where the replica has one."""
        ...

    def on_kv_gap(self, replica: ReplicaId, now_s: float) -> None:
        """Messages were lost for good."""
        ...

    def on_kv_restart(self, replica: ReplicaId, now_s: float) -> None:
        """Everything comes from the beginning, or from where it can still be."""
        ...
