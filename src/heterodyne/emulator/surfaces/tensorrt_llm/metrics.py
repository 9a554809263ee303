"""The names on `trtllm-serve`'s Prometheus page, as of August 2026, without speculation and host cache."""

from collections.abc import Iterator

from prometheus_client.core import Metric

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.surface import ReportedLoad
from heterodyne.emulator.surfaces.metrics import Metrics


def families(engine: EmulatedEngine, load: ReportedLoad) -> Iterator[Metric]:
    """Every family; the labels are as little use as in the original."""
    metrics = Metrics(model_name="undefined", engine_type="undefined")
    yield from _state(engine, load, metrics)
    yield from _requests(engine, metrics)


def _state(engine: EmulatedEngine, load: ReportedLoad, metrics: Metrics) -> Iterator[Metric]:
    scheduling, counters = engine.order.scheduling, engine.machine.counters
    used = round(load.kv_share * scheduling.blocks)
    hits = counters.cached_tokens // scheduling.block_tokens
    misses = counters.prompt_tokens // scheduling.block_tokens - hits
    for name, text, value in (
        ("num_requests_running", "Requests in the batch.", load.running),
        ("num_requests_waiting", "Requests outside the batch.", load.waiting),
        ("max_num_active_requests", "Requests that run at once.", scheduling.slots),
        ("max_batch_size_runtime", "Requests of one step.", scheduling.slots),
        ("max_num_tokens_runtime", "Tokens of one step.", scheduling.step_tokens),
        ("kv_cache_utilization", "Share of KV memory in use, 0 to 1.", load.kv_share),
        ("kv_cache_hit_rate", "Share of prompt blocks found.", hits / (hits + misses) if hits + misses else 0.0),
        ("kv_cache_max_blocks", "Blocks.", scheduling.blocks),
        ("kv_cache_free_blocks", "Blocks that nobody uses.", scheduling.blocks - used),
        ("kv_cache_used_blocks", "Blocks in use.", used),
        ("kv_cache_tokens_per_block", "Tokens of a block.", scheduling.block_tokens),
    ):
        yield metrics.gauge(f"trtllm_{name}", text, value)
    yield metrics.counter("trtllm_kv_cache_reused_blocks", "Prompt blocks found.", hits)
    yield metrics.counter("trtllm_kv_cache_missed_blocks", "Prompt blocks not found.", misses)


def _requests(engine: EmulatedEngine, metrics: Metrics) -> Iterator[Metric]:
    counters, seen = engine.machine.counters, engine.observations
    reasons = {reason: seen.finished[reason] for reason in ("stop", "length")}
    yield metrics.counters("trtllm_request_success", "Requests that ended, and why.", "finished_reason", reasons)
    for name, text, total in (
        ("num_requests_completed", "Requests that ended.", counters.finished),
        ("prompt_tokens", "Prompt tokens.", counters.prompt_tokens),
        ("prompt_cached_tokens", "Prompt tokens found in memory.", counters.cached_tokens),
        ("generation_tokens", "Tokens written.", counters.output_tokens),
    ):
        yield metrics.counter(f"trtllm_{name}", text, total)
    for name, text, values in (
        ("time_to_first_token_seconds", "From arrival to the first token.", seen.ttft_s),
        ("time_per_output_token_seconds", "Between tokens, the mean of a request.", seen.per_token_s),
        ("e2e_request_latency_seconds", "From arrival to the end.", seen.e2e_s),
        ("request_queue_time_seconds", "From arrival into the batch.", seen.queue_s),
        ("request_prefill_time_seconds", "From the batch to the first token.", seen.prefill_s),
        ("request_decode_time_seconds", "From the first token to the end.", seen.decode_s),
        ("request_inference_time_seconds", "In the batch.", seen.running_s),
    ):
        yield metrics.histogram(f"trtllm_{name}", text, values)
