"""The names on SGLang's metrics page, as of August 2026, of one scheduler with full attention."""

from collections.abc import Iterator

from prometheus_client.core import Metric

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.surface import ReportedLoad
from heterodyne.emulator.surfaces.metrics import Metrics


def families(engine: EmulatedEngine, load: ReportedLoad) -> Iterator[Metric]:
    """Every family."""
    model = engine.order.served_model
    yield from _scheduler(
        engine, load, Metrics(model_name=model, engine_type="unified", tp_rank="0", pp_rank="0", moe_ep_rank="0")
    )
    yield from _requests(engine, Metrics(model_name=model))


def cache_hit_rate(engine: EmulatedEngine) -> float:
    """The share of prompt tokens that were found in memory, since the start."""
    counters = engine.machine.counters
    return counters.cached_tokens / counters.prompt_tokens if counters.prompt_tokens else 0.0


def _scheduler(engine: EmulatedEngine, load: ReportedLoad, metrics: Metrics) -> Iterator[Metric]:
    scheduling, store = engine.order.scheduling, engine.machine.blocks
    size, adapters = scheduling.block_tokens, engine.adapters
    used = round(load.kv_share * scheduling.kv_tokens)
    evictable = (store.cached + store.private - store.used) * size
    for name, text, value in (
        ("num_running_reqs", "Requests in the batch.", load.running),
        ("num_queue_reqs", "Requests outside the batch.", load.waiting),
        ("num_grammar_queue_reqs", "Requests that wait for a grammar.", 0),
        ("num_retracted_reqs", "Requests that lost their memory, now.", 0),
        ("num_paused_reqs", "Requests that are paused.", 0),
        ("gen_throughput", "Tokens written a second.", engine.observations.decode_tokens_per_s if load.running else 0),
        ("cache_hit_rate", "Share of prompt tokens found in memory.", cache_hit_rate(engine)),
        ("token_usage", "Share of KV memory in use, 0 to 1.", load.kv_share),
        ("full_token_usage", "The same, of full attention.", load.kv_share),
        ("num_used_tokens", "Tokens in use.", used),
        ("kv_used_tokens", "Tokens in use.", used),
        ("kv_evictable_tokens", "Cached tokens that nobody uses.", evictable),
        ("kv_available_tokens", "Tokens free.", max(0, scheduling.kv_tokens - used - evictable)),
        ("max_total_num_tokens", "Tokens that fit.", scheduling.kv_tokens),
        ("max_running_requests", "Requests that run at once.", scheduling.slots),
        ("page_size", "Tokens of a page.", size),
        ("num_pages", "Pages.", scheduling.blocks),
        ("utilization", "Share of the slots in use.", load.running / scheduling.slots),
        ("lora_pool_slots_used", "Adapters loaded.", len(adapters)),
        ("lora_pool_slots_total", "Adapters that fit.", adapters.room),
        ("lora_pool_utilization", "Share of adapter slots in use.", len(adapters) / max(1, adapters.room)),
    ):
        yield metrics.gauge(f"sglang:{name}", text, value)
    yield metrics.counter(
        "sglang:num_retracted_requests", "Requests that lost their memory.", engine.machine.counters.preemptions
    )


def _requests(engine: EmulatedEngine, metrics: Metrics) -> Iterator[Metric]:
    counters, seen = engine.machine.counters, engine.observations
    for name, text, total in (
        ("prompt_tokens", "Prompt tokens.", counters.prompt_tokens),
        ("generation_tokens", "Tokens written.", counters.output_tokens),
        ("num_requests", "Requests that ended.", counters.finished),
        ("num_aborted_requests", "Requests that were aborted.", seen.finished["abort"]),
    ):
        yield metrics.counter(f"sglang:{name}", text, total)
    yield metrics.counter(
        "sglang:cached_tokens", "Prompt tokens found in memory.", counters.cached_tokens, cache_source="device"
    )
    for name, text, values in (
        ("time_to_first_token_seconds", "From arrival to the first token.", seen.ttft_s),
        ("inter_token_latency_seconds", "Between two tokens.", seen.itl_s),
        ("e2e_request_latency_seconds", "From arrival to the end.", seen.e2e_s),
        ("queue_time_seconds", "From arrival into the batch.", seen.queue_s),
        ("prompt_tokens_histogram", "Prompt tokens of a request.", seen.prompt_tokens),
        ("generation_tokens_histogram", "Tokens written for a request.", seen.output_tokens),
    ):
        yield metrics.histogram(f"sglang:{name}", text, values)
