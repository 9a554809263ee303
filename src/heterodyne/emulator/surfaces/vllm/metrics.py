"""The names on vLLM V1's metrics page, as of August 2026, of an engine without images and without a KV connector."""

from collections.abc import Iterator

from prometheus_client.core import Metric

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.surface import ReportedLoad
from heterodyne.emulator.surfaces.metrics import Metrics

REASONS = ("stop", "length", "abort", "error", "repetition")


def families(engine: EmulatedEngine, load: ReportedLoad) -> Iterator[Metric]:
    """Every family."""
    metrics = Metrics(model_name=engine.order.served_model, engine="0")
    yield from _state(engine, load, metrics)
    yield from _counters(engine, metrics)
    yield from _distributions(engine, metrics)
    yield Metrics().gauge("process_start_time_seconds", "When the process started.", engine.started_at_s)


def _state(engine: EmulatedEngine, load: ReportedLoad, metrics: Metrics) -> Iterator[Metric]:
    yield metrics.gauge("vllm:num_requests_running", "Requests in the batch.", load.running)
    yield metrics.gauge("vllm:num_requests_waiting", "Requests outside the batch.", load.waiting)
    waiting = {"capacity": load.waiting, "deferred": 0}
    yield metrics.gauges("vllm:num_requests_waiting_by_reason", "Waiting requests and why.", "reason", waiting)
    yield metrics.gauge("vllm:kv_cache_usage_perc", "Share of KV memory in use, 0 to 1.", load.kv_share)
    states = {
        "awake": not engine.asleep,
        "weights_offloaded": engine.sleep_level == 1,
        "discard_all": engine.sleep_level == 2,
    }
    yield metrics.gauges("vllm:engine_sleep_state", "1 at the state it is in.", "sleep_state", states)
    yield _cache_config(engine)
    if engine.adapters.room:
        yield _adapters(engine)


def _cache_config(engine: EmulatedEngine) -> Metric:
    layout, scheduling = engine.order.layout, engine.order.scheduling
    labels = {
        "engine": "0",
        "block_size": str(scheduling.block_tokens),
        "num_gpu_blocks": str(scheduling.blocks),
        "num_cpu_blocks": "0",
        "cache_dtype": str(layout.kv_precision),
        "enable_prefix_caching": str(scheduling.reuses_prefixes),
        "gpu_memory_utilization": str(layout.memory_fraction),
        "sliding_window": "None",
    }
    return Metrics(**labels).gauge("vllm:cache_config_info", "How the KV cache is laid out.", 1)


def _adapters(engine: EmulatedEngine) -> Metric:
    """Its value is the time; what counts is in the labels."""
    running: set[str] = set()
    waiting: set[str] = set()
    for planned, life in engine.under_way():
        if planned.adapter is not None:
            (waiting if life.admitted_at_s is None else running).add(planned.adapter)
    labels = {
        "max_lora": str(engine.adapters.room),
        "waiting_lora_adapters": ",".join(sorted(waiting)),
        "running_lora_adapters": ",".join(sorted(running)),
    }
    return Metrics(**labels).gauge("vllm:lora_requests_info", "Adapters that requests use.", engine.wall_s)


def _counters(engine: EmulatedEngine, metrics: Metrics) -> Iterator[Metric]:
    counters, seen = engine.machine.counters, engine.observations
    queried, cached = counters.prompt_tokens, counters.cached_tokens
    yield metrics.counter("vllm:prefix_cache_queries", "Prompt tokens looked up in the cache.", queried)
    yield metrics.counter("vllm:prefix_cache_hits", "Prompt tokens found in the cache.", cached)
    kv, external = engine.kv, engine.kv.external_tokens
    yield metrics.counter("vllm:external_prefix_cache_queries", "Tokens looked up at a connector.", external)
    yield metrics.counter("vllm:external_prefix_cache_hits", "Tokens found at a connector.", external)
    if kv.is_used:
        yield metrics.histogram("vllm:nixl_bytes_transferred", "Bytes of KV of a read.", kv.bytes_read)
        yield metrics.counter("vllm:nixl_num_failed_transfers", "Reads that failed.", kv.reads_failed)
        yield metrics.counter("vllm:nixl_num_kv_expired_reqs", "Hand-overs that nobody read in time.", kv.expired)
    yield metrics.counter("vllm:num_preemptions", "Requests that lost their memory.", counters.preemptions)
    yield metrics.counter("vllm:prompt_tokens", "Prompt tokens.", queried)
    sources = {"local_compute": queried - cached, "local_cache_hit": max(0, cached - external)}
    sources["external_kv_transfer"] = external
    yield metrics.counters("vllm:prompt_tokens_by_source", "Prompt tokens and where from.", "source", sources)
    yield metrics.counter("vllm:prompt_tokens_cached", "Prompt tokens that were not computed.", cached)
    yield metrics.counter("vllm:generation_tokens", "Tokens written.", counters.output_tokens)
    reasons = {reason: seen.finished[reason] for reason in REASONS}
    yield metrics.counters("vllm:request_success", "Requests that ended, and why.", "finished_reason", reasons)


def _distributions(engine: EmulatedEngine, metrics: Metrics) -> Iterator[Metric]:
    seen = engine.observations
    for name, text, values in (
        ("vllm:iteration_tokens_total", "Tokens of a step.", seen.step_tokens),
        ("vllm:request_prompt_tokens", "Prompt tokens of a request.", seen.prompt_tokens),
        ("vllm:request_generation_tokens", "Tokens written for a request.", seen.output_tokens),
        ("vllm:request_max_num_generation_tokens", "Most tokens asked for.", seen.limit_tokens),
        ("vllm:request_params_max_tokens", "The parameter max_tokens.", seen.limit_tokens),
        ("vllm:request_params_n", "The parameter n.", seen.answers),
        ("vllm:request_prefill_kv_computed_tokens", "Prompt tokens computed.", seen.computed_tokens),
        ("vllm:time_to_first_token_seconds", "From arrival to the first token.", seen.ttft_s),
        ("vllm:inter_token_latency_seconds", "Between two tokens.", seen.itl_s),
        ("vllm:request_time_per_output_token_seconds", "Between tokens, the mean of a request.", seen.per_token_s),
        ("vllm:e2e_request_latency_seconds", "From arrival to the end.", seen.e2e_s),
        ("vllm:request_queue_time_seconds", "From arrival into the batch.", seen.queue_s),
        ("vllm:request_inference_time_seconds", "In the batch.", seen.running_s),
        ("vllm:request_prefill_time_seconds", "From the batch to the first token.", seen.prefill_s),
        ("vllm:request_decode_time_seconds", "From the first token to the end.", seen.decode_s),
    ):
        yield metrics.histogram(name, text, values)
