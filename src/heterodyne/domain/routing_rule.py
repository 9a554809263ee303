"""How an operator wants the requests of one model to be placed, and where they may be at all."""

from enum import StrEnum

from msgspec import Struct


class KvStrategy(StrEnum):
    """What is made of prompts that a replica may still have in memory."""

    STATELESS = "stateless"  # nothing
    STICKY = "sticky"  # a conversation stays where it is
    PREFIX = "prefix"  # a prompt goes where its beginning is, if that pays


class RoutingRule(Struct, frozen=True, kw_only=True):
    """What is promised, and what is preferred among those who keep it."""

    policy: str = "slo"
    ttft_slo_s: float | None = None  # None: nothing is promised, faster is better
    itl_slo_s: float | None = None
    kv: KvStrategy = KvStrategy.PREFIX
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
