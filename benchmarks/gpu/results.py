"""What a run has measured, kept beside the benchmark; the page is made of it."""

from msgspec import Struct


class Side(Struct, frozen=True, kw_only=True):
    """One replay, as its client saw it."""

    asked: int
    failed: int
    ttft_p50_ms: float
    ttft_p99_ms: float
    itl_p50_ms: float
    itl_p99_ms: float
    tokens_per_s: float  # that were generated
    busy_share: float | None = None
    joules_per_token: float | None = None


class Forecasts(Struct, frozen=True, kw_only=True):
    """Forecasts beside what came, as the gateway wrote both down: medians of |forecast / measured - 1|."""

    requests: int
    ttft_error: float
    itl_error: float


class LoadRun(Struct, frozen=True, kw_only=True):
    """So many at once: on the engine itself, and through the gateway."""

    at_once: int
    direct: Side
    through: Side
    added_p50_ms: float  # by the gateway, before the engine was sent the request
    added_p99_ms: float
    first: Forecasts  # of its first requests
    later: Forecasts  # of those behind the first hundred, or of the last half
    calibrated: Forecasts | None = None


class PolicyRun(Struct, frozen=True, kw_only=True):
    """One policy on the trace that all of them had."""

    policy: str
    kept: float  # share of the requests, failed ones broken
    side: Side
    by_replica: dict[str, int]


class ReplicaFacts(Struct, frozen=True, kw_only=True):
    """One that ran."""

    name: str
    engine: str
    version: str
    shape: str
    ready_s: float


class Results(Struct, kw_only=True):
    """All of one run, as far as it has come."""

    day: str
    machine: str
    card: str
    command: str
    seconds: float = 0.0
    model: str
    replicas: list[ReplicaFacts]
    loads: list[LoadRun] = []
    calibration: list[str] = []  # the last lines of what it said
    policies_per_s: float = 0.0
    slo_ttft_ms: float = 0.0
    slo_itl_ms: float = 0.0
    policies: list[PolicyRun] = []
    notes: list[str] = []  # what whoever ran it has to say of it
    seen: list[str] = []  # what did not go as it should
