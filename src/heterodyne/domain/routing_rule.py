"""How an operator wants the requests of one model to be placed, where they may be at all, and why one went where."""

from enum import StrEnum

from msgspec import Struct


class KvStrategy(StrEnum):
    """What is made of prompts that a replica may still have in memory."""

    STATELESS = "stateless"  # nothing
    STICKY = "sticky"  # a conversation stays where it is
    PREFIX = "prefix"  # a prompt goes where its beginning is, if that pays
    STORE = "store"  # or its beginning comes from where it is kept: another replica, or a store that they share
    SPLIT = "split"  # or one replica computes it, and another answers
    AUTO = "auto"  # whichever of these is best


class Reason(StrEnum):
    """Why a request goes where it goes: a word the dashboard can show."""

    ONLY_REPLICA = "only_replica"
    LEAST_LOADED = "least_loaded"
    ONLY_POOL = "only_pool"  # replicas of one kind: the one that answers first
    FASTEST = "fastest"
    CHEAPEST = "cheapest"
    PREFERRED = "preferred"
    BEST_MIX = "best_mix"
    LEAST_HARM = "least_harm"  # no replica keeps the SLO: where the fewest others miss theirs
    SPARE = "spare"  # batch work, where interactive work leaves room
    HOME = "home"  # the replica that has the conversation
    EXPLORED = "explored"  # to see how a pool is doing that was not heard of for long
    PEER = "peer"  # by another system's rule


class RoutingRule(Struct, frozen=True, kw_only=True):
    """What is promised, and what is preferred among those who keep it."""

    policy: str = "slo"
    ttft_slo_s: float | None = None  # None: nothing is promised, faster is better
    itl_slo_s: float | None = None
    kv: KvStrategy = KvStrategy.PREFIX
    is_kv_shared: bool = False  # a prompt of one project may be answered with KV of another's
    prefers_hardware: tuple[str, ...] = ()  # for the policy `affinity`
    prefers_labels: dict[str, str] = {}
    mix: dict[str, float] = {}  # weights by policy, for the policy `mix`
    is_overridable: bool = True  # requests may name another policy and other promises


class Requirement(Struct, frozen=True, kw_only=True):
    """What a replica must have to be given a model's requests; a replica of which it is not known has it not."""

    hardware: tuple[str, ...] = ()  # one of these accelerators; empty: any
    engines: tuple[str, ...] = ()  # one of these; empty: any
    labels: dict[str, str] = {}  # all of these
    memory_bytes_min: int | None = None  # of all its chips
