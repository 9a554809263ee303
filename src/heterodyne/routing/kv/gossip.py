"""What the workers of all gateways tell each other: which prompt was computed where, and where a session is at home.

A worker that knows only its own prompts sends the next turn of a conversation to a replica of its own choice, and
each of several workers fills every cache with everything. A prompt is told when it is sent, so that those that begin
like it follow while it is still being computed, and a few bytes more say when it has been. Telling costs some ten
bytes a block.
Replicas go by the keys of their engines, for places are a worker's own affair, and ids are a gateway's.
"""

from collections import OrderedDict, deque
from collections.abc import Callable

import msgspec
from msgspec import Struct

from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.index import PrefixIndex

MESSAGE_BYTES_MAX = 64 << 10  # what a datagram between processes bears without further ado
BLOCK_BYTES_MAX = 14  # of a block in a message: its hash and its end
NOTES_MAX = 1000  # kept for the next message; older ones are dropped, and those prompts stay unknown elsewhere
SENT_MAX = 1000  # prompts that others have sent and were not told to be computed; the oldest go
SESSION_CHARS_MAX = 64
PromptNote = tuple[str, tuple[int, ...], tuple[int, ...]]  # engine, hashes, ends
HomeNote = tuple[str, str, str]  # model, session, engine
ComputedNote = tuple[str, int]  # engine, and the last hash of a prompt, which has all before it in it


class GossipMessage(Struct, frozen=True, array_like=True):
    """Several of each."""

    prompts: list[PromptNote] = []
    homes: list[HomeNote] = []
    computed: list[ComputedNote] = []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(GossipMessage).decode


class PrefixGossip:
    """Gathers what this worker has to tell."""

    __slots__ = ("_computed", "_homes", "_prompts", "dropped")

    def __init__(self, notes_max: int = NOTES_MAX) -> None:
        self.dropped = 0
        self._prompts: deque[PromptNote] = deque(maxlen=notes_max)
        self._homes: deque[HomeNote] = deque(maxlen=notes_max)
        self._computed: deque[ComputedNote] = deque(maxlen=notes_max)

    def note(self, engine: str, chain: Chain) -> None:
        """This prompt goes there."""
        if not chain.hashes:
            return
        self.dropped += len(self._prompts) == self._prompts.maxlen
        self._prompts.append((engine, chain.hashes, chain.ends))

    def note_computed(self, engine: str, chain: Chain) -> None:
        """Its first token has come from there."""
        if chain.hashes:
            self._computed.append((engine, chain.hashes[-1]))

    def note_home(self, model: str, session: str, engine: str) -> None:
        """The session's requests go there from now on."""
        self.dropped += len(self._homes) == self._homes.maxlen
        self._homes.append((model, session, engine))

    def take(self) -> bytes | None:
        """The next message, or None when there is nothing more to tell."""
        prompts, homes, computed, room = self._prompts, self._homes, self._computed, MESSAGE_BYTES_MAX
        if not prompts and not homes and not computed:
            return None
        message = GossipMessage(prompts=[], homes=[], computed=[])
        while homes and (room := room - _home_bytes_max(homes[0])) >= 0:
            message.homes.append(homes.popleft())
        while prompts and (room := room - _prompt_bytes_max(prompts[0])) >= 0:
            message.prompts.append(prompts.popleft())
        while not prompts and computed and (room := room - _computed_bytes_max(computed[0])) >= 0:
            message.computed.append(computed.popleft())  # never before what it is said of
        return _encode(message)


class SentElsewhere:
    """Prompts that other workers have sent and that were not told to be computed yet."""

    __slots__ = ("_chains",)

    def __init__(self) -> None:
        self._chains: OrderedDict[ComputedNote, Chain] = OrderedDict()

    def add(self, engine: str, chain: Chain) -> None:
        """One more is under way."""
        if chain.hashes:
            self._chains[engine, chain.hashes[-1]] = chain
            if len(self._chains) > SENT_MAX:
                self._chains.popitem(last=False)

    def take(self, note: ComputedNote) -> Chain | None:
        """The one that this is said of; None: it is not known, or not any more."""
        return self._chains.pop(note, None)


def receive_gossip(
    message: bytes,
    index: PrefixIndex,
    sent: SentElsewhere,
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
            sent.add(engine, chain)
            heard += 1
    for note in gossip.computed:
        place, computed = place_of(note[0]), sent.take(note)
        if place is not None and computed is not None:
            index.prove(place, computed)
    return heard


def _prompt_bytes_max(note: PromptNote) -> int:
    return 16 + 4 * len(note[0]) + BLOCK_BYTES_MAX * len(note[1])


def _home_bytes_max(note: HomeNote) -> int:
    return 16 + 4 * (len(note[0]) + len(note[1]) + len(note[2]))


def _computed_bytes_max(note: ComputedNote) -> int:
    return 16 + 4 * len(note[0]) + BLOCK_BYTES_MAX
