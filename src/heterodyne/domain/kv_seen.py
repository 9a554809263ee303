"""Where KV is held, how it moves and what that is worth, as one worker knows it; or several, put together.

Amounts of prompts are of the last minutes, those of transfers and savings since workers began. Every list is bounded,
and has what matters most.
"""

from msgspec import Struct

from heterodyne.domain.fleet import ReplicaId

WINDOW_MIN = 5  # that amounts of prompts are of: the minute that runs and those before


class KvMix(Struct, frozen=True, kw_only=True):
    """Tokens of prompts by where their KV came from."""

    prompts: int = 0
    computed: int = 0  # by the replica that answered
    own: int = 0  # it held them already
    host: int = 0
    peer: int = 0
    store: int = 0
    prefill: int = 0


class KvReplicaSeen(Struct, frozen=True, kw_only=True):
    """What one replica holds."""

    id: ReplicaId
    held_tokens: int  # in the accelerator's memory, as far as it is known what was sent there
    held_tokens_max: float | None  # None: nobody knows
    token_bytes: float
    host_bytes: float
    host_bytes_max: int  # 0: its engine keeps nothing there
    trust: float  # how far what is said of it has come true
    mix: KvMix


class KvLinkSeen(Struct, frozen=True, kw_only=True):
    """One direction between two pools, or from a store or the own host to a pool."""

    source: str
    target: str
    bytes_per_s: float
    latency_ms: float
    transfers: int  # that were begun
    timed: int  # of these; 0: speed and latency are what is assumed
    failed: int
    failing_share: float  # of those to come, as is thought
    paused_for_s: float  # from when this was said; 0: it is used


class KvOriginSeen(Struct, frozen=True, kw_only=True):
    """What bringing KV from one kind of place was worth, since workers began."""

    arrived: int
    failed: int
    byte_count: float
    tokens: float
    plain_s: float  # TTFT foretold with everything computed
    measured_s: float  # and what it was
    usd: float  # foretold to be saved
    withheld: int  # requests that computed all the same, to see how far that forecast is off
    off_log: float  # the sum over these, of the logarithms of what it took over what was foretold


class KvStoreSeen(Struct, frozen=True, kw_only=True):
    """What one store holds, as far as is known."""

    byte_count: float
    pinned_bytes: float
    blocks: int
    files: int  # that slots were saved to; 0: none, or engines keep them by themselves
    file_bytes: int


class KvPrefixSeen(Struct, frozen=True, kw_only=True):
    """What many prompts begin with: never its text."""

    model: str
    hash: str  # of its blocks and its tenant's salt
    tokens: int
    prompts: float  # that began with it, older ones counting less
    held_by: tuple[ReplicaId, ...]


class KvPrefetchSeen(Struct, frozen=True, kw_only=True):
    """Conversations whose KV was brought ahead of their next turn."""

    taken: int = 0  # the turn came while it was there
    wasted: int = 0  # it came elsewhere, too late or not at all
    cancelled: int = 0  # it came first
    failed: int = 0


class KvSeen(Struct, frozen=True, kw_only=True):
    """The whole of it."""

    replicas: tuple[KvReplicaSeen, ...] = ()
    links: tuple[KvLinkSeen, ...] = ()
    origins: dict[str, KvOriginSeen] = {}
    stores: dict[str, KvStoreSeen] = {}
    prefixes: tuple[KvPrefixSeen, ...] = ()
    prefetches: KvPrefetchSeen = KvPrefetchSeen()
