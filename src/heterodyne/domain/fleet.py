"""The fleet as the data plane sees it: frozen, versioned, buildable in a test without a cluster."""

from enum import StrEnum
from typing import NewType, Self

from msgspec import Struct

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.kv_event import KvPublisher
from heterodyne.domain.price import Price
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.domain.routing_rule import Requirement, RoutingRule
from heterodyne.domain.start_time import StartTime
from heterodyne.domain.tls_files import TlsFiles

PoolName = NewType("PoolName", str)
ReplicaId = NewType("ReplicaId", str)


class Health(StrEnum):
    """Whether a replica may be given work."""

    STARTING = "starting"
    READY = "ready"
    DOWN = "down"


class Purpose(StrEnum):
    """What a model is for."""

    GENERATE = "generate"
    EMBED = "embed"
    INFER = "infer"  # tensors in, tensors out


class WarmUp(Struct, frozen=True, kw_only=True):
    """What a replica is asked before it counts as ready."""

    prompts: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()  # of prompts, in tokens: what is compiled for each length is compiled then
    timeout_s: float  # of each


class KvWarmUp(Struct, frozen=True, kw_only=True):
    """What a new replica is given of what its model is asked for, before users are sent there."""

    prompts: int
    bound_s: float  # after which it is given work whatever it has


class Replica(Struct, frozen=True, kw_only=True):
    """One running engine endpoint."""

    id: ReplicaId
    pool: PoolName
    model: str
    engine: str  # the engine dialect's name
    host: str
    port: int
    tls: bool = False
    tls_files: TlsFiles | None = None  # to call it with; None: it is believed if this system does
    base_path: str = ""
    engine_model: str | None = None  # None: the engine knows the model by its public name
    context_tokens: int | None = None  # None: the engine alone knows
    purpose: Purpose | None = None  # None: whatever the engine answers
    api_key_env: str | None = None
    tool_call_opening: str | None = None  # what a tool call begins with, for engines that must be led to one
    version: str | None = None  # of the weights; None: nobody says
    hardware: str | None = None  # an accelerator of the catalogue; None: unknown, as of hosted capacity
    tp: int = 1
    memory_bytes: int | None = None  # of all its chips; None: unknown, as its hardware is
    region: str | None = None  # None: it is nowhere in particular
    labels: dict[str, str] = {}
    price: Price = Price()
    allow_fields: tuple[str, ...] = ()  # of the engine's own, that clients may send beside those its dialect lets pass
    in_flight_max: int | None = None  # requests of one gateway worker at once; None: as many as it is found to bear
    role: ReplicaRole = ReplicaRole.BOTH
    kv_transfer: str = ""  # how its engine exchanges KV with others; empty: it does not
    kv_store: str = ""  # the shared store that its engine reads and writes by itself; empty: none
    kv_store_regions: tuple[str, ...] = ()  # all that the store keeps KV in; empty: where the replica is
    kv_layout: str = ""  # a digest of what its KV is made of: only those of equal ones exchange it; empty: not known
    kv_host_bytes: int = 0  # of the host's memory that its engine moves KV to before it forgets it
    kv_publishers: tuple[KvPublisher, ...] = ()  # of KV events, one for each of its ranks; empty: nobody listens
    adapters: dict[str, str | None] = {}  # LoRA adapters it may be asked for, and whence; None: it came with them
    adapters_max: int = 4  # of those it is given while it runs, at once
    adapters_listed: tuple[str, ...] = ()  # those in its model list when that was last read
    adapters_listed_at_s: float | None = None  # when, on the worker's monotonic clock; None: it has not been
    warm_up: WarmUp | None = None
    kv_warm_up: KvWarmUp | None = None
    kv_prefetch: bool = False  # whether a conversation's KV is brought there before its next turn is likely
    health: Health = Health.STARTING
    is_draining: bool = False  # finishes what it has and takes nothing new
    load: EngineLoad | None = None  # what it last said of itself; None: it says nothing, or nothing yet
    load_at_s: float | None = None  # when, on the worker's monotonic clock

    @property
    def is_takeable(self) -> bool:
        """Whether it may be given work, as far as the fleet knows."""
        return (
            self.health is Health.READY and not self.is_draining and not (self.load is not None and self.load.is_asleep)
        )


class Wake(Struct, frozen=True, kw_only=True):
    """Of a model that may have no replica at all: requests that find none are held while one starts."""

    start: StartTime
    asked_at_s: float | None = None  # of the one that is coming, on the machine's monotonic clock; None: none is

    def wait_s(self, now_s: float) -> float:
        """What a request that comes now is told."""
        return self.start.left_s(0.0 if self.asked_at_s is None else now_s - self.asked_at_s)


class ModelRule(Struct, frozen=True, kw_only=True):
    """What an operator has said about one model."""

    pools: tuple[PoolName, ...] | None = None  # None: every pool that serves it
    aliases: tuple[str, ...] = ()  # other names clients may ask for
    fallbacks: tuple[str, ...] = ()  # models that answer in its place when none of its replicas can, in this order
    context_tokens: int | None = None  # None: what its replicas say
    regions_only: tuple[str, ...] = ()  # empty: anywhere
    regions_first: tuple[str, ...] = ()  # preferred, in this order, while they can
    requires: Requirement = Requirement()
    routing: RoutingRule = RoutingRule()
    late_fallbacks: tuple[str, ...] = ()  # models that answer in its place when none of its replicas would in time
    degraded: dict[str, str] = {}  # by tier, the model that answers in its place rather than nobody when it is full
    split: RolloutSplit | None = None  # between versions of it; None: no rollout has a say
    wake: Wake | None = None  # None: without a replica that is ready it is not served


class FleetSnapshot(Struct, frozen=True, kw_only=True):
    """Every replica at one moment; a new version replaces the old one whole."""

    version: int
    replicas: tuple[Replica, ...]
    by_model: dict[str, tuple[Replica, ...]]
    rules: dict[str, ModelRule] = {}
    aliases: dict[str, str] = {}  # the model meant by another name
    adapters: dict[str, str] = {}  # LoRA adapters by name, with the model each belongs to
    prefill: dict[str, tuple[Replica, ...]] = {}  # by model: replicas that compute prompts for others and never answer
    tiers: dict[ReplicaId, int] = {}  # where some replicas of a model come before others: 0 first; absent means 0

    @classmethod
    def of(cls, version: int, replicas: tuple[Replica, ...], rules: dict[str, ModelRule] | None = None) -> Self:
        """A snapshot of these replicas, models in the order they are first named."""
        rules = rules or {}
        serving: dict[str, list[Replica]] = {}
        prefill: dict[str, list[Replica]] = {}
        for replica in replicas:
            if not rule_against(replica, rules.get(replica.model)):
                those = prefill if replica.role is ReplicaRole.PREFILL else serving
                those.setdefault(replica.model, []).append(replica)
        by_model = {model: tuple(those) for model, those in serving.items()}
        aliases = {alias: model for model, rule in rules.items() for alias in rule.aliases}
        return cls(
            version=version,
            replicas=replicas,
            by_model=by_model,
            rules=rules,
            aliases=aliases,
            adapters=_adapters(by_model, aliases),
            prefill={model: tuple(those) for model, those in prefill.items()},
            tiers=_tiers(by_model, rules),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that clients may ask for: models, other names of them, adapters."""
        return (*self.by_model, *self.asleep, *self.aliases, *self.adapters)

    @property
    def asleep(self) -> tuple[str, ...]:
        """Models without a replica that may be asked for all the same: one is started then."""
        return tuple(
            model for model, rule in self.rules.items() if rule.wake is not None and model not in self.by_model
        )

    def model_of(self, name: str) -> str:
        """The model that a name means: its own, that of an alias, or the one that an adapter belongs to.

        Empty where there is none, so that what clients make up becomes no label and no row.
        """
        named = self.aliases.get(name, name)
        model = self.adapters.get(named, named)
        return model if model in self.by_model or model in self.rules else ""


def rule_against(replica: Replica, rule: ModelRule | None) -> str:
    """What a model's rule has against a replica, in a few words; empty: it may serve the model."""
    if rule is None:
        return ""
    if rule.pools is not None and replica.pool not in rule.pools:
        return f"pool {replica.pool} is not among those of the model"
    if rule.regions_only and replica.region not in rule.regions_only:
        return f"region {replica.region or 'unknown'}, and only {', '.join(rule.regions_only)} may be used"
    return _requirement_against(replica, rule.requires)


def _requirement_against(replica: Replica, requires: Requirement) -> str:
    if requires.hardware and replica.hardware not in requires.hardware:
        return f"{replica.hardware or 'unknown hardware'}, and {' or '.join(requires.hardware)} is required"
    if requires.engines and replica.engine not in requires.engines:
        return f"engine {replica.engine}, and {' or '.join(requires.engines)} is required"
    least = requires.memory_bytes_min
    if least is not None and (replica.memory_bytes or 0) < least:
        has = "unknown memory" if replica.memory_bytes is None else f"{replica.memory_bytes / 2**30:.0f} GiB"
        return f"{has}, and {least / 2**30:.0f} GiB is required"
    for label, value in requires.labels.items():
        if replica.labels.get(label) != value:
            return f"label {label} is {replica.labels.get(label, 'not set')}, and {value} is required"
    return ""


def _adapters(by_model: dict[str, tuple[Replica, ...]], aliases: dict[str, str]) -> dict[str, str]:
    """Settings keep these names apart; an adapter that an engine brings along gives way to a model."""
    found: dict[str, str] = {}
    for model, replicas in by_model.items():
        for replica in replicas:
            if replica.adapters:
                found.update(dict.fromkeys(replica.adapters, model))
    return {name: model for name, model in found.items() if name not in by_model and name not in aliases}


def _tiers(by_model: dict[str, tuple[Replica, ...]], rules: dict[str, ModelRule]) -> dict[ReplicaId, int]:
    """Preferred regions first, in their order; own capacity before hosted, which is paid by the token."""
    tiers = {}
    for model, replicas in by_model.items():
        first = rules[model].regions_first if model in rules else ()
        order = {region: place for place, region in enumerate(first)}
        for replica in replicas:
            place = order.get(replica.region or "", len(order))
            tier = place + (len(order) + 1 if replica.price.is_by_token else 0)
            if tier:
                tiers[replica.id] = tier
    return tiers
