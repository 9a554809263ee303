"""Pure: which replica was sent which prompts, for peers that keep an index of their own.

It is the index of `routing/kv`, with each peer's own bounds and without what engines report back. A replica that takes
another's place begins with nothing.
"""

from collections.abc import Iterable, Sequence

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.replica_state import ReplicaState

BLOCKS_MAX = 2**18  # of one replica, where its tokens set no limit before


class PrefixBook:
    """An index that notices when another replica has a place."""

    __slots__ = ("_limits", "_owners", "index")

    def __init__(self) -> None:
        self.index = PrefixIndex(BLOCKS_MAX)
        self._owners: dict[int, ReplicaId] = {}  # place: whose blocks are there
        self._limits: dict[int, float] = {}

    def matched(self, chain: Chain, states: Sequence[ReplicaState]) -> list[int]:
        """The prompt tokens each of these was sent before, in their order."""
        found = self.index.matches(chain)
        if found.is_empty:
            return [0] * len(states)
        owners = self._owners
        return [
            int(found.tokens(state.place)) if owners.get(state.place) == state.replica.id else 0 for state in states
        ]

    def note(self, chain: Chain, state: ReplicaState, tokens_max: float) -> None:
        """This prompt goes there, where `tokens_max` are remembered."""
        place = state.place
        if self._owners.get(place) != state.replica.id:
            self._owners[place] = state.replica.id
            self.index.forget(place)
        if self._limits.get(place) != tokens_max:
            self._limits[place] = tokens_max
            self.index.limit(place, tokens_max)
        self.index.insert(place, chain)

    def drop(self, blocks: Iterable[int], state: ReplicaState) -> None:
        """These are there no more."""
        if self._owners.get(state.place) == state.replica.id:
            self.index.remove(state.place, blocks)
