"""Pure: KV that is worth moving though no request asks for it: to a new replica, ahead of a turn, from one that leaves.

Each move is weighed like a fetch: what it would save by the chance that it is wanted, against what it takes of the
link. Whoever carries moves out takes them in this order, as many as there is time for.
"""

from collections.abc import Iterator, Sequence
from typing import Final, final

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.routing.fabric.fabric import KvFabric, fit
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.conversations import KvConversation
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.kv.links import KvLink
from heterodyne.routing.replica_state import ReplicaState

SOON_S: Final = 30.0  # a turn that is likely within this time is prepared for
LATER_S: Final = 600.0  # a conversation that goes on within this time is worth handing over
LOST: Final = 0.5  # of a conversation's prompt that its replica still has: below this it is brought back


@final
class KvMove:
    """One prefix from one place to a replica."""

    __slots__ = ("byte_count", "chain", "origin", "source", "store", "takes_s", "target", "tokens", "worth_s")

    def __init__(
        self,
        origin: KvOrigin,
        chain: Chain,
        target: ReplicaState,
        *,
        tokens: float,
        source: ReplicaState | None = None,
        store: str = "",
    ) -> None:
        self.origin = origin
        self.chain = chain
        self.target = target
        self.source = source
        self.store = store
        self.tokens = tokens
        self.byte_count = 0.0
        self.takes_s = 0.0
        self.worth_s = 0.0  # of computing, that it is expected to save


class KvMoves:
    """What is worth moving at one moment, among the replicas that run."""

    __slots__ = ("_fabric", "_index", "_now_s", "_states")

    def __init__(self, states: Sequence[ReplicaState], fabric: KvFabric, index: PrefixIndex, now_s: float) -> None:
        self._states = states
        self._fabric = fabric
        self._index = index
        self._now_s = now_s

    def warm_up(self, target: ReplicaState, count: int) -> list[KvMove]:
        """What a new replica should be given before it takes traffic: the hottest prefixes of its model, each from
        where it is quickest to be had."""
        hottest = self._fabric.conversations.hottest(target.replica.model, count, self._now_s)
        moves = [self._quickest(prefix.chain, target, prefix.wants) for prefix in hottest]
        return _best(moves, count)

    def prefetch(self, count: int) -> list[KvMove]:
        """Conversations that are likely to go on soon, whose replica has forgotten them: to be brought back there."""
        moves = []
        for state, one, chance in self._likely(SOON_S):
            held = self._index.matches(one.chain).tokens(state.place) * state.trust
            if state.replica.is_takeable and held < LOST * one.tokens:
                moves.append(self._quickest(one.chain, state, chance))
        return _best(moves, count)

    def hand_over(self, leaving: ReplicaState, count: int) -> list[KvMove]:
        """The conversations of a replica that drains, and who is to go on with each: whoever is least busy, with what
        it is given here."""
        heirs = [one for one in self._states if one.replica.is_takeable and fit(leaving, one)]
        given_s = dict.fromkeys((heir.place for heir in heirs), 0.0)
        moves = []
        for state, one, chance in self._likely(LATER_S):
            if state is not leaving or not heirs:
                continue
            tokens = self._index.matches(one.chain).tokens(leaving.place) * leaving.trust
            target = min(heirs, key=lambda heir: (_busy_s(heir, self._now_s) + given_s[heir.place], heir.place))
            move = self._from_peer(one.chain, leaving, target, tokens, chance)
            if move is not None:
                given_s[target.place] += chance * _compute_s(target, tokens)
                moves.append(move)
        return _best(moves, count)

    def _likely(self, within_s: float) -> Iterator[tuple[ReplicaState, KvConversation, float]]:
        """Conversations that may go on within this time, with the replica each was sent to, and the chance."""
        conversations = self._fabric.conversations
        by_id = {str(state.replica.id): state for state in self._states}
        for model in sorted({state.replica.model for state in self._states}):
            for one in conversations.of(model):
                state = by_id.get(one.replica)
                chance = conversations.returning(self._now_s - one.wanted_s, within_s)
                if state is not None and chance > 0.0:
                    yield state, one, chance

    def _quickest(self, chain: Chain, target: ReplicaState, wanted: float) -> KvMove | None:
        """From its host, its store, or another replica; None: nobody has it, or computing it takes no longer."""
        fabric, cached = self._fabric, self._index.matches(chain)
        found = []
        if target.replica.kv_host_bytes:
            tokens = fabric.on_hosts(chain).tokens(target.place)
            link = fabric.link_from_host(target)
            found.append(self._move(KvMove(KvOrigin.HOST, chain, target, tokens=tokens), link, wanted))
        if target.replica.kv_store:
            tokens = float(fabric.in_store(target, chain, self._now_s))
            link = fabric.link_from_store(target)
            move = KvMove(KvOrigin.STORE, chain, target, store=target.replica.kv_store, tokens=tokens)
            found.append(self._move(move, link, wanted))
        for source in self._states:
            if fit(source, target):
                tokens = cached.tokens(source.place) * source.trust
                found.append(self._from_peer(chain, source, target, tokens, wanted))
        able = [move for move in found if move is not None]
        return min(able, key=_by_worth) if able else None

    def _from_peer(
        self, chain: Chain, source: ReplicaState, target: ReplicaState, tokens: float, wanted: float
    ) -> KvMove | None:
        move = KvMove(KvOrigin.PEER, chain, target, source=source, tokens=tokens)
        return self._move(move, self._fabric.link_between(source, target), wanted)

    def _move(self, move: KvMove, link: KvLink, wanted: float) -> KvMove | None:
        """With what it takes and is worth; None where that is nothing."""
        move.byte_count = move.tokens * self._fabric.token_bytes(move.target)
        move.takes_s = link.takes_s(move.byte_count, self._now_s) * (1.0 + link.margin())
        move.worth_s = wanted * _compute_s(move.target, move.tokens) - move.takes_s
        is_worth_it = move.tokens > 0.0 and move.worth_s > 0.0 and self._now_s >= link.paused_until_s
        return move if is_worth_it else None


def _best(moves: Sequence[KvMove | None], count: int) -> list[KvMove]:
    return sorted([move for move in moves if move is not None], key=_by_worth)[:count]


def _compute_s(state: ReplicaState, tokens: float) -> float:
    speed = state.speed
    return speed.prompts * tokens * (speed.prompt_token_s + speed.prompt_token_squared_s * tokens)


def _busy_s(state: ReplicaState, now_s: float) -> float:
    """How long a prompt would wait there, its steps for others included."""
    return max(0.0, state.free_at_s - now_s, state.least_s) + state.speed.steps * state.batch_s


def _by_worth(move: KvMove) -> float:
    return -move.worth_s
