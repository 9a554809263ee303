"""What the workers of all gateways tell each other: which prompt was computed where, and where a session is at home.

A worker that knows only its own prompts sends the next turn of a conversation to a replica of its own choice, and
each of several workers fills every cache with everything. Telling costs some ten bytes a block and bears delay well.
Replicas go by the keys of their engines, for places are a worker's own affair, and ids are a gateway's.
"""

from collections import deque
from collections.abc import Callable

import msgspec
from msgspec import Struct

from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.index import PrefixIndex

MESSAGE_BYTES_MAX = 64 << 10  # what a datagram between processes bears without further ado
BLOCK_BYTES_MAX = 14  # of a block in a message: its hash and its end
NOTES_MAX = 1000  # kept for the next message; older ones are dropped, and those prompts stay unknown elsewhere
SESSION_CHARS_MAX = 64
PromptNote = tuple[str, tuple[int, ...], tuple[int, ...]]  # engine, hashes, ends
HomeNote = tuple[str, str, str]  # model, session, engine


class GossipMessage(Struct, frozen=True, array_like=True):
    """Several of both."""

    prompts: list[PromptNote] = []
    homes: list[HomeNote] = []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(GossipMessage).decode


class PrefixGossip:
    """Gathers what this worker has to tell."""

    __slots__ = ("_homes", "_prompts", "dropped")

    def __init__(self, notes_max: int = NOTES_MAX) -> None:
        self.dropped = 0
        self._prompts: deque[PromptNote] = deque(maxlen=notes_max)
        self._homes: deque[HomeNote] = deque(maxlen=notes_max)

    def note(self, engine: str, chain: Chain) -> None:
        """The first token of this prompt has come from there."""
        if not chain.hashes:
            return
        self.dropped += len(self._prompts) == self._prompts.maxlen
        self._prompts.append((engine, chain.hashes, chain.ends))

    def note_home(self, model: str, session: str, engine: str) -> None:
        """The session's requests go there from now on."""
        self.dropped += len(self._homes) == self._homes.maxlen
        self._homes.append((model, session, engine))

    def take(self) -> bytes | None:
        """The next message, or None when there is nothing more to tell."""
        prompts, homes, room = self._prompts, self._homes, MESSAGE_BYTES_MAX
        if not prompts and not homes:
            return None
        message = GossipMessage(prompts=[], homes=[])
        while homes and (room := room - _home_bytes_max(homes[0])) >= 0:
            message.homes.append(homes.popleft())
        while prompts and (room := room - _prompt_bytes_max(prompts[0])) >= 0:
            message.prompts.append(prompts.popleft())
        return _encode(message)


def receive_gossip(
    message: bytes,
    index: PrefixIndex,
    place_of: Callable[[str], int | None],
    settle: Callable[[str, str, int], None],
) -> int:
    """Another worker's message becomes part of what this one knows. Returns how many prompts were of known replicas.

    Raises `ValueError` where the message is not as promised; nothing of it counts then.
    """
    gossip = _decode(message)
    if any(len(hashes) != len(ends) for _, hashes, ends in gossip.prompts):
        raise ValueError("a prompt has other than one end for each block")
    if any(len(session) > SESSION_CHARS_MAX for _, session, _ in gossip.homes):
        raise ValueError("a session of too many characters")
    for model, session, engine in gossip.homes:
        place = place_of(engine)
        if place is not None:
            settle(model, session, place)
    heard = 0
    for engine, hashes, ends in gossip.prompts:
        place = place_of(engine)
        if place is not None:
            chain = Chain(hashes, ends)
            index.insert(place, chain)
            index.prove(place, chain)
            heard += 1
    return heard


def _prompt_bytes_max(note: PromptNote) -> int:
    return 16 + 4 * len(note[0]) + BLOCK_BYTES_MAX * len(note[1])


def _home_bytes_max(note: HomeNote) -> int:
    return 16 + 4 * (len(note[0]) + len(note[1]) + len(note[2]))
