"""What a picker remembers of each replica, by its place; a replica that takes another's place begins anew.

There are never more of these than places, so nothing has to be done when a replica leaves.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.replica_state import ReplicaState

Memory = TypeVar("Memory")


class ByPlace(Generic[Memory]):
    """One memory for each replica."""

    __slots__ = ("_kept", "_new")

    def __init__(self, new: Callable[[], Memory]) -> None:
        self._new = new
        self._kept: dict[int, tuple[ReplicaId, Memory]] = {}

    def of(self, state: ReplicaState) -> Memory:
        """That of the replica which sits here now."""
        kept = self._kept.get(state.place)
        if kept is not None and kept[0] == state.replica.id:
            return kept[1]
        memory = self._new()
        self._kept[state.place] = (state.replica.id, memory)
        return memory

    def try_of(self, state: ReplicaState) -> Memory | None:
        """The same, or None where another has taken the place: what ends late does not bring a replica back."""
        kept = self._kept.get(state.place)
        return kept[1] if kept is not None and kept[0] == state.replica.id else None

    def clear(self) -> None:
        """All are forgotten."""
        self._kept.clear()
