"""What a JAX engine has answered, and its page in the names that vLLM has for it."""

from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from heterodyne.jax_engine.scheduler import SlotScheduler
from heterodyne.telemetry.exposition import cumulative
from heterodyne.telemetry.meters import add_to_histogram

BLOCK_TOKENS = 16  # the cache has no blocks; its size is told in some of vLLM's usual one
SECONDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0, 20.0),
    *(40.0, 80.0, 160.0, 640.0),
)
REASONS = ("stop", "length", "abort", "error")


class JaxHistogram:
    """Seconds over fixed bounds."""

    def __init__(self) -> None:
        self._cell = [0.0] * (len(SECONDS) + 2)

    def observe(self, seconds: float) -> None:
        """One more."""
        add_to_histogram(self._cell, SECONDS, seconds)

    def family(self, name: str, text: str, model: str) -> Metric:
        """As it is told."""
        family = HistogramMetricFamily(name, text, labels=("model_name", "engine"))
        family.add_metric((model, "0"), cumulative(SECONDS, self._cell[:-1]), sum_value=self._cell[-1])
        return family


class JaxObservations:
    """Since the engine started."""

    def __init__(self, model: str, started_at_s: float) -> None:
        self.model = model
        self.started_at_s = started_at_s
        self.ttft = JaxHistogram()
        self.itl = JaxHistogram()
        self.e2e = JaxHistogram()
        self.finished: Counter[str] = Counter()


def metrics_page(seen: JaxObservations, scheduler: SlotScheduler) -> bytes:
    """Prometheus text."""
    registry = CollectorRegistry()
    registry.register(_Collector(lambda: _families(seen, scheduler)))
    return generate_latest(registry)


def _families(seen: JaxObservations, scheduler: SlotScheduler) -> Iterator[Metric]:
    labels, values, counters = ("model_name", "engine"), (seen.model, "0"), scheduler.counters
    for name, text, value in (
        ("vllm:num_requests_running", "Sequences in slots.", scheduler.running),
        ("vllm:num_requests_waiting", "Sequences without a slot.", scheduler.waiting),
        ("vllm:kv_cache_usage_perc", "Share of the slots' places in use, 0 to 1.", scheduler.kv_share),
    ):
        gauge = GaugeMetricFamily(name, text, labels=labels)
        gauge.add_metric(values, value)
        yield gauge
    for name, text, value in (
        ("vllm:prefix_cache_queries", "Prompt tokens looked up in the slots.", counters.prompt_tokens),
        ("vllm:prefix_cache_hits", "Prompt tokens found there.", counters.reused_tokens),
        ("vllm:prompt_tokens", "Prompt tokens.", counters.prompt_tokens),
        ("vllm:prompt_tokens_cached", "Prompt tokens that were not computed.", counters.reused_tokens),
        ("vllm:generation_tokens", "Tokens written.", counters.written_tokens),
    ):
        counter = CounterMetricFamily(name, text, labels=labels)
        counter.add_metric(values, value)
        yield counter
    ended = CounterMetricFamily("vllm:request_success", "Answers that ended.", labels=(*labels, "finished_reason"))
    for reason in REASONS:
        ended.add_metric((*values, reason), seen.finished[reason])
    yield ended
    blocks = len(scheduler.slots) * scheduler.context_tokens // BLOCK_TOKENS
    info = GaugeMetricFamily("vllm:cache_config_info", "The cache.", labels=("engine", "block_size", "num_gpu_blocks"))
    info.add_metric(("0", str(BLOCK_TOKENS), str(blocks)), 1)
    yield info
    yield seen.ttft.family("vllm:time_to_first_token_seconds", "From arrival to the first token.", seen.model)
    yield seen.itl.family("vllm:inter_token_latency_seconds", "Between two tokens.", seen.model)
    yield seen.e2e.family("vllm:e2e_request_latency_seconds", "From arrival to the end.", seen.model)
    started = GaugeMetricFamily("process_start_time_seconds", "When the engine started.")
    started.add_metric((), seen.started_at_s)
    yield started


class _Collector:
    def __init__(self, families: Callable[[], Iterator[Metric]]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return self._families()
