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

MESSAGE_BYTES_MAX = 64 << 10  # what a datagram between processes bears without further ado
BLOCK_BYTES_MAX = 14  # of a block in a message: its hash and its end
NOTES_MAX = 1000  # kept for the next message; older ones are dropped, and those prompts stay unknown elsewhere
Note = tuple[str, tuple[int, ...], tuple[int, ...]]

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Note]).decode


class PrefixGossip:
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
        """The next message, or None when there is nothing more to tell."""
        notes = self._notes
        if not notes:
            return None
        taken = [notes.popleft()]
        room = MESSAGE_BYTES_MAX - _bytes_max(taken[0])
        while notes and (room := room - _bytes_max(notes[0])) >= 0:
            taken.append(notes.popleft())
        return _encode(taken)


def receive_gossip(message: bytes, index: PrefixIndex, place_of: Callable[[ReplicaId], int | None]) -> int:
    """Another worker's message becomes part of this one's index. Returns how many prompts were of known replicas.

    Raises `ValueError` where the message is not as promised; nothing of it counts then.
    """
    notes = _decode(message)
    if any(len(hashes) != len(ends) for _, hashes, ends in notes):
        raise ValueError("a prompt has other than one end for each block")
    heard = 0
    for replica, hashes, ends in notes:
        place = place_of(ReplicaId(replica))
        if place is not None:
            chain = Chain(hashes, ends)
            index.insert(place, chain)
            index.prove(place, chain)
            heard += 1
    return heard


def _bytes_max(note: Note) -> int:
    return 16 + 4 * len(note[0]) + BLOCK_BYTES_MAX * len(note[1])
