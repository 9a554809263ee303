"""What the planner may be asked over HTTP. Models are built-in names: the console reads no file."""

from typing import Annotated

from msgspec import Meta, Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.precision import Precision
from heterodyne.planning.workload_class import WorkloadClass

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Tokens = Annotated[int, Meta(ge=1, le=10_000_000)]
Share = Annotated[float, Meta(ge=0, le=1)]
Milliseconds = Annotated[float, Meta(gt=0, le=3_600_000)]
Rate = Annotated[float, Meta(gt=0, le=1_000_000)]


class MemoryForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /admin/plan/memory`: does a model fit, and what would make it."""

    model: Name
    hardware: Name
    precision: Precision | None = None  # None: what the model comes in
    kv_precision: Precision = Precision.BF16
    tp: Annotated[int, Meta(ge=1, le=1024)] = 1
    engine: EngineKind = EngineKind.VLLM
    context_tokens: Tokens | None = None  # None: 8192, or all the model takes
    concurrency: Annotated[int, Meta(ge=1, le=100_000)] = 1
    memory_fraction: Annotated[float, Meta(gt=0, le=1)] | None = None  # None: the engine's default
    slots: Annotated[int, Meta(ge=1, le=100_000)] | None = None  # None: the engine's default


class Traffic(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Requests of one length, or those that were recorded of a model of this fleet."""

    prompt_tokens: Tokens = 1024
    output_tokens: Tokens = 256
    requests_per_s: Rate | None = None  # None: 1, or the busiest minute of what was recorded
    recorded_model: Name | None = None  # None: the lengths above; else they are not looked at
    recorded_requests: Annotated[int, Meta(ge=2, le=20_000)] = 2000  # the latest


class HardwareForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /admin/plan/hardware`: who serves it within its targets, the cheapest first."""

    model: Name
    precision: Precision | None = None  # None: what the model comes in
    kv_precision: Precision = Precision.BF16
    traffic: Traffic = Traffic()
    workload_class: WorkloadClass = WorkloadClass.INTERACTIVE
    slo_ttft_ms: Milliseconds | None = None  # None: that of the class
    slo_itl_ms: Milliseconds | None = None
    every_width: bool = False  # else of each accelerator the cheapest


class MixForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /admin/plan/mix`: which replicas, and how many of each."""

    model: Name
    precision: Precision | None = None  # None: what the model comes in
    kv_precision: Precision = Precision.BF16
    traffic: Traffic = Traffic()
    workload_class: WorkloadClass = WorkloadClass.INTERACTIVE
    slo_ttft_ms: Milliseconds | None = None  # None: that of the class
    slo_itl_ms: Milliseconds | None = None
    hardware: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()  # empty: everything with a price
    available: Annotated[dict[str, Annotated[int, Meta(ge=0, le=100_000)]], Meta(max_length=50)] = {}  # chips, by name
    buckets: Annotated[int, Meta(ge=1, le=6)] = 3  # bins of each length, of recorded requests
    headroom: Annotated[float, Meta(ge=0, lt=1)] = 0.1
    spot_share_max: Share = 0.0
    critical_share: Share = 0.0
    survives_one_loss: bool = False
