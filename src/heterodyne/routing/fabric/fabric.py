"""What a router knows of KV that can be moved: links between pools, what stores and hosts hold, what is under way."""

from collections.abc import Collection, Mapping
from math import inf
from typing import Final, final

from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.fabric.ledger import KvLedger
from heterodyne.routing.fabric.pinned import PinnedKv
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.conversations import Conversations
from heterodyne.routing.kv.held import KvTier
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.kv.links import HOST_END, KvLink, KvLinks, store_end
from heterodyne.routing.kv.prefix_matches import NOTHING_CACHED, PrefixMatches
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

TOKEN_BYTES: Final = 131_072.0  # of a model of which nothing is known: eight billion weights, as they usually come
LATENCY_S: Final = 0.026  # of a copy between two H200 hosts over NIXL and host memory, whatever its length
BYTES_PER_S: Final = 1.25e9  # of a link of which nothing is known: 10 Gbit/s
HOST_LATENCY_S: Final = 0.002  # from host memory over PCIe
HOST_BYTES_PER_S: Final = 20e9
MEDIA: Final = {  # latency and bytes per second of one reader
    "memory": (0.001, 10e9),
    "disk": (0.005, 3e9),
    "redis": (0.003, 1e9),
    "object": (0.05, 0.5e9),
}
COPIES: Final = frozenset(("slots", "lmcache", "dynamo", "example"))  # what one holds, while it does something else
HANDS_OVER: Final = frozenset(("nixl", "sglang", "slots", "trtllm", "dynamo"))  # what one has computed just now
BYTES_GAIN: Final = 0.3  # how far one transfer moves what a token is thought to take


@final
class KvFabric:
    """One per router."""

    __slots__ = (
        "_host_places",
        "_hosts",
        "_moving",
        "_priors",
        "_stores",
        "_token_bytes",
        "conversations",
        "ledger",
        "links",
        "pinned",
        "stores",
    )

    def __init__(self, stores: Mapping[str, KvStoreSettings]) -> None:
        self.stores: dict[str, KvStoreSettings] = {}
        self._stores: dict[str, KvTier] = {}
        self._hosts = PrefixIndex()  # engines keep there what they forget, the latest longest, as they do on the chip
        self._host_places: frozenset[int] = frozenset()
        self._priors: dict[str, float] = {}  # bytes per second of each pool's link
        self._token_bytes: dict[str, float] = {}  # as transfers have shown, by layout
        self._moving: dict[str, float] = {}  # bytes under way, by the replica or store that sends them
        self.conversations = Conversations()
        self.ledger = KvLedger()
        self.pinned = PinnedKv()
        self.links = KvLinks(self._prior)
        self.take(stores)

    def take(self, stores: Mapping[str, KvStoreSettings]) -> None:
        """These stores are there; of one that is described as before, what it holds stays known."""
        kept = {name: self._stores[name] for name, one in stores.items() if self.stores.get(name) == one}
        self._stores = {
            name: kept.get(name)
            or KvTier(
                one.capacity_gb * 1e9,
                ttl_s=inf if one.ttl_s is None else one.ttl_s,
                usd_per_gb_hour=one.usd_per_gb_hour,
            )
            for name, one in stores.items()
        }
        self.stores = dict(stores)

    def publish(self, states: Collection[ReplicaState]) -> None:
        """These replicas are there."""
        self._priors = {state.replica.pool: state.speed.prior.kv_link_bytes_per_s for state in states}
        self.links.forget(set(self._priors))
        layouts = {state.replica.kv_layout for state in states}
        self._token_bytes = {layout: one for layout, one in self._token_bytes.items() if layout in layouts}
        self._host_places = frozenset(state.place for state in states if state.replica.kv_host_bytes)
        for state in states:
            if state.place in self._host_places:
                self._hosts.limit(state.place, state.replica.kv_host_bytes / self.token_bytes(state))

    def forget(self, place: int) -> None:
        """The replica of this place is gone, or has restarted."""
        self._hosts.forget(place)
        self.pinned.forget(place)

    # What there is.

    def token_bytes(self, state: ReplicaState) -> float:
        """Of KV, of one token there."""
        known = self._token_bytes.get(state.replica.kv_layout, 0.0) or state.speed.prior.kv_token_bytes
        return known or TOKEN_BYTES

    def learn_bytes(self, state: ReplicaState, tokens: float, byte_count: float) -> None:
        """So many bytes have come for what was thought to be so many tokens; where physics knows better, it does."""
        layout = state.replica.kv_layout
        if layout and tokens > 0.0 and byte_count > 0.0 and not state.speed.prior.kv_token_bytes:
            before = self.token_bytes(state)
            self._token_bytes[layout] = before + BYTES_GAIN * (byte_count / tokens - before)

    def in_store(self, state: ReplicaState, chain: Chain, now_s: float) -> int:
        """Tokens of the prompt that the replica can read from its store."""
        store = self._stores.get(state.replica.kv_store)
        return 0 if store is None else store.tokens(state.replica.kv_layout, chain, now_s)

    def on_hosts(self, chain: Chain) -> PrefixMatches:
        """How much of the prompt each replica's host has."""
        return self._hosts.matches(chain) if self._host_places else NOTHING_CACHED

    def insert(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """Its prompt has been computed there: its engine passes it on to its store and its host by itself."""
        if not request.chain.hashes:
            return
        if state.place in self._host_places:
            self._hosts.insert(state.place, request.chain)
        store = self._stores.get(state.replica.kv_store)
        if store is not None:
            speed = state.speed
            token_s = speed.prompts * (speed.prompt_token_s + speed.prompt_token_squared_s * request.prompt_tokens)
            store.insert(
                state.replica.kv_layout,
                request.chain,
                token_bytes=self.token_bytes(state),
                token_usd=0.0 if state.usd_per_s == inf else token_s * state.usd_per_s,
                session=request.session,
                now_s=now_s,
            )

    def remove(self, request: RoutingRequest, state: ReplicaState, *, store: str) -> None:
        """Its prompt was not in the store; with no store, not on the replica's own host."""
        tier = self._stores.get(store)
        if tier is not None:
            tier.remove(state.replica.kv_layout, request.chain)
        elif not store:
            self._hosts.remove(state.place, request.chain.hashes)

    # What moves.

    def link_between(self, source: ReplicaState, target: ReplicaState) -> KvLink:
        return self.links.link(source.replica.pool, target.replica.pool)

    def link_from_store(self, target: ReplicaState) -> KvLink:
        return self.links.link(store_end(target.replica.kv_store), target.replica.pool)

    def link_from_host(self, target: ReplicaState) -> KvLink:
        return self.links.link(HOST_END, target.replica.pool)

    def moving_bytes(self, sender: str) -> float:
        """Under way from this replica or store."""
        return self._moving.get(sender, 0.0)

    def begin(self, sender: str, byte_count: float) -> None:
        """A transfer begins."""
        self._moving[sender] = self._moving.get(sender, 0.0) + byte_count

    def end(self, sender: str, byte_count: float) -> None:
        """It is over, however it ended."""
        left = self._moving.get(sender, 0.0) - byte_count
        if left > 0.5:  # nothing is left of rounding
            self._moving[sender] = left
        else:
            self._moving.pop(sender, None)

    @property
    def is_still(self) -> bool:
        """Whether nothing is under way."""
        return not self._moving

    def tiers(self) -> dict[str, KvTier]:
        """The stores by name."""
        return dict(self._stores)

    def host_bytes(self, state: ReplicaState) -> float:
        """That its host holds."""
        return self._hosts.tokens(state.place) * self.token_bytes(state) if state.place in self._host_places else 0.0

    @property
    def host_entries(self) -> int:
        """Blocks in the memory of hosts."""
        return self._hosts.entries

    def _prior(self, source: str, target: str) -> tuple[float, float]:
        if source == HOST_END:
            return HOST_LATENCY_S, 1.0 / HOST_BYTES_PER_S
        for name, store in self.stores.items():
            if source == store_end(name):
                latency_s, bytes_per_s = MEDIA[store.medium]
                if store.latency_ms is not None:
                    latency_s = store.latency_ms / 1000.0
                return latency_s, 1.0 / (store.bytes_per_s or bytes_per_s)
        speeds = [self._priors.get(pool) or BYTES_PER_S for pool in (source, target)]
        return LATENCY_S, 1.0 / min(speeds)


def fit(source: ReplicaState, target: ReplicaState) -> bool:
    """Whether the one has a use for KV of the other, and a way to get it."""
    ours, theirs = source.replica, target.replica
    return (
        source is not target
        and ours.kv_layout != ""
        and ours.kv_layout == theirs.kv_layout
        and ours.kv_transfer != ""
        and ours.kv_transfer == theirs.kv_transfer
    )
