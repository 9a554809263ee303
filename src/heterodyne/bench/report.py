"""What a run found, as one frozen value; `table.py` shows it to people."""

from msgspec import Struct

from heterodyne.bench.latency_histogram import LatencyHistogram
from heterodyne.bench.plan import BenchPlan
from heterodyne.bench.tally import BenchTally


class Quantiles(Struct, frozen=True, kw_only=True):
    """One latency, in milliseconds; quantiles within half a percent, mean and highest exact."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    p99_9: float
    highest: float


class BenchReport(Struct, frozen=True, kw_only=True):
    """The `--json` form; field names are what scripts depend on."""

    url: str
    model: str
    operation: str
    stream: bool
    seed: int
    concurrency: int | None  # None: open loop
    requests_per_s_asked: float | None  # None: closed loop
    requests_per_s: float
    elapsed_s: float
    sent: int
    succeeded: int
    failed: int
    failures: dict[str, int]
    failure_examples: dict[str, str]
    ttft_ms: Quantiles | None  # None: nothing was streamed
    itl_ms: Quantiles | None  # None: fewer than two content events in every answer
    e2e_ms: Quantiles | None  # None: nothing succeeded
    send_delay_ms: Quantiles | None  # None: closed loop, where a request is meant to go when it goes
    prompt_tokens: int
    completion_tokens: int
    prompt_tokens_per_s: float
    completion_tokens_per_s: float
    usages_reported: int  # answers whose tokens the server counted; the others are our own estimate
    is_interrupted: bool


def make_report(plan: BenchPlan, tally: BenchTally, *, elapsed_s: float, is_interrupted: bool = False) -> BenchReport:
    """The report of a finished run."""
    per_s = 1 / elapsed_s if elapsed_s > 0 else 0.0
    return BenchReport(
        url=plan.url,
        model=plan.model,
        operation=plan.operation.value,
        stream=plan.wants_stream,
        seed=plan.seed,
        concurrency=plan.concurrency,
        requests_per_s_asked=plan.rate_requests_per_s,
        requests_per_s=tally.succeeded * per_s,
        elapsed_s=elapsed_s,
        sent=tally.sent,
        succeeded=tally.succeeded,
        failed=tally.failed,
        failures=dict(tally.failures.most_common()),
        failure_examples=dict(tally.first_details),
        ttft_ms=_quantiles(tally.ttft),
        itl_ms=_quantiles(tally.itl),
        e2e_ms=_quantiles(tally.e2e),
        send_delay_ms=_quantiles(tally.send_delay) if plan.rate_requests_per_s else None,
        prompt_tokens=tally.prompt_tokens,
        completion_tokens=tally.completion_tokens,
        prompt_tokens_per_s=tally.prompt_tokens * per_s,
        completion_tokens_per_s=tally.completion_tokens * per_s,
        usages_reported=tally.usages_reported,
        is_interrupted=is_interrupted,
    )


def _quantiles(histogram: LatencyHistogram) -> Quantiles | None:
    if not histogram.count:
        return None
    p50, p95, p99, p99_9 = (1000 * histogram.quantile_s(share) for share in (0.5, 0.95, 0.99, 0.999))
    return Quantiles(
        count=histogram.count,
        mean=1000 * histogram.mean_s(),
        p50=p50,
        p95=p95,
        p99=p99,
        p99_9=p99_9,
        highest=1000 * histogram.highest_s,
    )
