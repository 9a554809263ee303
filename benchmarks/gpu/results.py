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


class MixedReplica(Struct, frozen=True, kw_only=True):
    """One of several behind one name, once its pool had learned from the first hundred requests of both."""

    replica: str
    forecasts: Forecasts
    ttft_covered: float | None  # share of first tokens within the span that was told; None: nothing was learned from
    itl_covered: float | None


class MixRun(Struct, frozen=True, kw_only=True):
    """All replicas behind one name, at so much of what they can do together."""

    share: float
    per_s: float
    side: Side
    replicas: list[MixedReplica]
    added_p50_ms: float
    added_p99_ms: float


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
    alone: list[Side] = []  # each replica at the largest load, direct
    mixes: list[MixRun] = []
    calibration: list[str] = []  # the last lines of what it said
    policies_per_s: float = 0.0
    slo_ttft_ms: float = 0.0
    slo_itl_ms: float = 0.0
    policies: list[PolicyRun] = []
    notes: list[str] = []  # what whoever ran it has to say of it
    seen: list[str] = []  # what did not go as it should
