"""KV as the admin API shows it: tiers, links, savings, and what many prompts begin with."""

from msgspec import Struct

from heterodyne.domain.kv_seen import KvMix, KvPrefetchSeen


class KvReplicaRow(Struct, frozen=True, kw_only=True):
    """What one replica holds."""

    id: str
    pool: str
    held_tokens: int  # in the accelerator's memory, as far as it is known what was sent there
    held_tokens_max: int | None  # None: nobody knows
    held_bytes: float
    engine_share: float | None  # of that memory in use now, as its engine says
    host_bytes: float
    host_bytes_max: int  # 0: its engine keeps nothing there
    trust: float  # how far what is said of it has come true
    mix: KvMix


class KvPoolRow(Struct, frozen=True, kw_only=True):
    """What the replicas of one pool hold together."""

    pool: str
    model: str
    strategy: str
    role: str
    transfer: str  # how its engines exchange KV; empty: they do not
    store: str  # empty: none
    replicas: int
    held_tokens: int
    held_tokens_max: int | None  # None: that of one is not known
    held_bytes: float
    host_bytes: float
    host_bytes_max: int
    mix: KvMix


class KvStoreRow(Struct, frozen=True, kw_only=True):
    """One store of the settings."""

    store: str
    medium: str
    held_bytes: float  # as it should be: what it really holds it does not say
    capacity_bytes: float
    pinned_bytes: float  # that many sessions begin with
    blocks: int
    files: int  # that slots were saved to
    file_bytes: int
    pools: tuple[str, ...]  # whose engines read and write it


class KvLinkRow(Struct, frozen=True, kw_only=True):
    """One direction between two pools, or from a store or the own host to a pool."""

    source: str
    target: str
    bytes_per_s: float
    latency_ms: float
    transfers: int  # that were begun
    timed: int  # of these; 0: speed and latency are what is assumed
    failed: int
    failing_share: float
    paused_until_at: float | None  # seconds since the epoch; None: it is used


class KvOriginRow(Struct, frozen=True, kw_only=True):
    """What bringing KV from one kind of place was worth."""

    origin: str
    arrived: int
    failed: int
    byte_count: float
    tokens: float
    saved_s: float  # of time to first tokens; below 0: lost
    saved_usd: float
    withheld: int  # requests that computed all the same
    off_ratio: float | None  # what computing took there over what was foretold; None: too few to correct by


class KvPrefixRow(Struct, frozen=True, kw_only=True):
    """What many prompts begin with."""

    model: str
    hash: str
    tokens: int
    prompts: float  # lately
    held_by: tuple[str, ...]


class KvPage(Struct, frozen=True, kw_only=True):
    """`GET /admin/kv`."""

    at: float
    window_s: int  # that amounts of prompts are of; transfers and savings are since the workers began
    is_on: bool  # whether prompts are looked at: some model has another strategy than `stateless`
    is_moving: bool  # whether some model's KV may be brought
    gateways: int  # whose reports are in this
    mix: KvMix
    pools: tuple[KvPoolRow, ...]
    replicas: tuple[KvReplicaRow, ...]  # those with the most prompts
    replicas_left_out: int
    stores: tuple[KvStoreRow, ...]
    links: tuple[KvLinkRow, ...]  # the most used
    links_left_out: int
    origins: tuple[KvOriginRow, ...]
    prefixes: tuple[KvPrefixRow, ...]  # the hottest
    prefetches: KvPrefetchSeen = KvPrefetchSeen()
