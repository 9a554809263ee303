"""What the planner answers over HTTP, in the shapes that charts are drawn from."""

from msgspec import Struct


class ModelOption(Struct, frozen=True, kw_only=True):
    """A built-in model."""

    name: str
    context_tokens: int
    precision: str  # that it comes in


class HardwareOption(Struct, frozen=True, kw_only=True):
    """An accelerator."""

    name: str
    vendor: str
    memory_bytes: float
    usd_per_hour: float | None  # the lowest on demand; None: nobody sells it by the hour that we know of
    fast_domain_chips: int
    engines: tuple[str, ...]
    precisions: tuple[str, ...]


class ClassOption(Struct, frozen=True, kw_only=True):
    """A class of patience and its targets."""

    name: str
    slo_ttft_ms: float
    slo_itl_ms: float


class PoolOption(Struct, frozen=True, kw_only=True):
    """A pool of this fleet, to begin a form with."""

    pool: str
    model: str  # that requests are recorded under
    shape: str | None  # the built-in model it has the size of; None: none that is known
    hardware: str | None
    tp: int
    precision: str | None
    slo_ttft_ms: float | None  # that its model promises; None: nothing
    slo_itl_ms: float | None


class PlanOptions(Struct, frozen=True, kw_only=True):
    """`GET /admin/plan/options`."""

    models: tuple[ModelOption, ...]
    hardware: tuple[HardwareOption, ...]
    engines: tuple[str, ...]
    precisions: tuple[str, ...]
    classes: tuple[ClassOption, ...]
    policies: tuple[str, ...]  # for rehearsals
    pools: tuple[PoolOption, ...]


class MemoryPart(Struct, frozen=True, kw_only=True):
    """Where a part of a chip's memory goes."""

    name: str  # weights, activations, overhead, kv, free, unclaimed; free is below zero by what is lacking
    bytes: float


class MemoryChange(Struct, frozen=True, kw_only=True):
    """One change after which it fits."""

    kind: str
    sentence: str
    hardware: str
    tp: int
    precision: str
    kv_precision: str
    context_tokens: int
    concurrency: int
    parts: tuple[MemoryPart, ...]


class MemoryAnswer(Struct, frozen=True, kw_only=True):
    """The budget of one chip."""

    model: str
    hardware: str
    tp: int
    engine: str
    precision: str
    kv_precision: str
    context_tokens: int
    concurrency: int
    is_fitting: bool
    memory_bytes: float
    parts: tuple[MemoryPart, ...]  # together the whole
    concurrency_max: int
    context_max_tokens: int
    changes: tuple[MemoryChange, ...]  # the smallest first
    caveats: tuple[str, ...]


class CurvePoint(Struct, frozen=True, kw_only=True):
    """A replica with so many requests at once."""

    concurrency: int
    ttft_ms: float
    itl_ms: float
    usd_per_million_tokens: float | None


class HardwareChoice(Struct, frozen=True, kw_only=True):
    """One way to serve it."""

    hardware: str
    tp: int
    engine: str
    replicas: int
    concurrency: int  # on average
    requests_per_s: float  # of one replica within the promise
    utilisation: float  # of the rate that would saturate it
    ttft_ms: float  # 99 in 100 requests are within it
    ttft_p50_ms: float
    itl_ms: float
    itl_p50_ms: float
    usd_per_hour: float | None  # of all replicas
    usd_per_million_tokens: float | None
    power_w: float | None
    binding: str  # what more at once would break
    rests_on: str  # yours, chip, family, datasheet
    reason: str
    curve: tuple[CurvePoint, ...]


class HardwareRefusal(Struct, frozen=True, kw_only=True):
    """One that cannot, and why."""

    hardware: str
    tp: int
    reason: str


class HardwareAnswer(Struct, frozen=True, kw_only=True):
    """The cheapest first; those without a price last."""

    model: str
    precision: str
    prompt_tokens: int
    output_tokens: int
    requests_per_s: float
    slo_ttft_ms: float
    slo_itl_ms: float
    choices: tuple[HardwareChoice, ...]
    refused: tuple[HardwareRefusal, ...]
    notes: tuple[str, ...]


class MixKind(Struct, frozen=True, kw_only=True):
    """Equal replicas of the mix."""

    name: str
    hardware: str
    tp: int
    is_spot: bool
    replicas: int
    usd_per_hour: float  # of all of them
    utilisation: float
    rests_on: str


class MixBucket(Struct, frozen=True, kw_only=True):
    """Requests of similar lengths, and who serves them."""

    name: str
    requests_per_s: float
    is_critical: bool
    shares: dict[str, float]  # by kind


class MixAlone(Struct, frozen=True, kw_only=True):
    """What one kind alone would cost."""

    name: str
    usd_per_hour: float


class MixAnswer(Struct, frozen=True, kw_only=True):
    """The cheapest mix."""

    model: str
    precision: str
    requests_per_s: float
    slo_ttft_ms: float
    slo_itl_ms: float
    usd_per_hour: float
    gap: float  # by which share a mix might be cheaper that was not found in time
    kinds: tuple[MixKind, ...]
    buckets: tuple[MixBucket, ...]
    alone: tuple[MixAlone, ...]  # the cheapest first
    notes: tuple[str, ...]
