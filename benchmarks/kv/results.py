"""What is measured, as it is kept between measuring and writing."""

from msgspec import Struct


class StrategyRun(Struct, frozen=True, kw_only=True):
    """One way to serve in one cell, all seeds together."""

    trace: str
    network: str
    load: float
    way: str
    prefilling: int  # replicas that compute prompts only
    requests: int
    ttft_p50_s: float
    ttft_p90_s: float
    ttft_p99_s: float
    itl_p90_s: float
    within: float
    usd_per_million: float  # the whole fleet, for output tokens within the SLO
    cached: float  # share of prompt tokens that were not computed
    arrived: int  # hand-overs and copies
    failed: int
    reusable: float = 0.0  # share of prompt tokens that some request before began with, too


class SplitRun(Struct, frozen=True, kw_only=True):
    """Replicas of two roles beside as many that do both."""

    prompt_tokens: int
    network: str
    load: float  # of the largest rate at which mixed replicas keep the SLO
    prefilling: int  # as the planner advises
    mixed_requests_per_s: float  # that largest rate
    split_requests_per_s: float  # the same of the split
    mixed_within: float  # at the load
    split_within: float
    mixed_ttft_p90_s: float
    split_ttft_p90_s: float


class LayoutRun(Struct, frozen=True, kw_only=True):
    """One way to lay out the chips of a published comparison."""

    kind: str  # of `benchmarks.kv.widths`
    laid_out: str
    is_one_width: bool
    planned_requests_per_s: float  # 0: by the plan it does not keep the SLO
    requests_per_s: float  # within the SLO, for 90 % of requests


class PublishedRun(Struct, frozen=True, kw_only=True):
    """A shape that somebody published a figure for, as near as it can be laid out here."""

    name: str
    said: str
    source: str
    asked: str
    layouts: list[LayoutRun]


class AdviceRun(Struct, frozen=True, kw_only=True):
    """The ratio of roles that the planner advises, and what the simulator finds best."""

    shape: str
    advised: int  # of the replicas
    best: int
    advised_requests_per_s: float
    best_requests_per_s: float
    planned_requests_per_s: float  # that the planner promises of the advised ratio
    mixed_planned_requests_per_s: float
    mixed_requests_per_s: float


class Results(Struct, frozen=True, kw_only=True):
    """Everything on both pages."""

    at: str = ""
    seconds: dict[str, float] = {}  # that measuring took, by part
    strategies: list[StrategyRun] = []
    throttled: list[StrategyRun] = []
    splits: list[SplitRun] = []
    published: list[PublishedRun] = []
    advice: list[AdviceRun] = []
