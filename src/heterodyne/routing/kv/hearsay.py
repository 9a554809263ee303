"""What the workers of a gateway tell each other: which prompt was computed where.

A worker that knows only its own prompts sends the next turn of a conversation to a replica of its own choice, and
each of several workers fills every cache with everything. Telling costs some ten bytes a block and bears delay well.
Replicas go by their ids, for a place is a worker's own affair.
"""

from collections import deque
from collections.abc import Callable

import msgspec

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.index import PrefixIndex

NOTES_MAX = 1000  # kept for the next message; older ones are dropped, and those prompts stay unknown elsewhere
Note = tuple[str, tuple[int, ...], tuple[int, ...]]

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Note]).decode


class Hearsay:
    """Gathers what this worker has to tell."""

    __slots__ = ("_notes", "dropped")

    def __init__(self, notes_max: int = NOTES_MAX) -> None:
        self.dropped = 0
        self._notes: deque[Note] = deque(maxlen=notes_max)

    def note(self, replica: ReplicaId, chain: Chain) -> None:
        """The first token of this prompt has come from there."""
        if not chain.hashes:
            return
        self.dropped += len(self._notes) == self._notes.maxlen
        self._notes.append((replica, chain.hashes, chain.ends))

    def take(self) -> bytes | None:
        """The next message, or None when there is nothing to tell."""
        if not self._notes:
            return None
        message = _encode(list(self._notes))
        self._notes.clear()
        return message


def hear(message: bytes, index: PrefixIndex, place_of: Callable[[ReplicaId], int | None]) -> int:
    """Another worker's message becomes part of this one's index. Returns how many prompts were of known replicas."""
    heard = 0
    for replica, hashes, ends in _decode(message):
        place = place_of(ReplicaId(replica))
        if place is not None:
            chain = Chain(hashes, ends)
            index.insert(place, chain)
            index.prove(place, chain)
            heard += 1
    return heard
