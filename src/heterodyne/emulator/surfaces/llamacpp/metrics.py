"""What llama.cpp's server counts: its metrics page, and the timings at the end of each answer."""

from collections.abc import Iterator

from prometheus_client.core import Metric

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.generation import Generation
from heterodyne.emulator.surface import ReportedLoad
from heterodyne.emulator.surfaces.metrics import Metrics


def families(engine: EmulatedEngine, load: ReportedLoad) -> Iterator[Metric]:
    """Every family."""
    seen, passes, metrics = engine.observations, engine.machine.counters.passes, Metrics()
    read_tokens, read_s = seen.computed_tokens.sum, seen.prefill_s.sum
    written, written_s = seen.output_tokens.sum, seen.decode_s.sum
    yield metrics.counter("llamacpp:prompt_tokens_total", "Prompt tokens computed.", read_tokens)
    yield metrics.counter("llamacpp:prompt_seconds_total", "Seconds spent on prompts.", read_s)
    yield metrics.counter("llamacpp:tokens_predicted_total", "Tokens written.", written)
    yield metrics.counter("llamacpp:tokens_predicted_seconds_total", "Seconds spent on answers.", written_s)
    yield metrics.counter("llamacpp:n_decode_total", "Passes through the model.", passes)
    # It calls this one a counter although it ends in no `_total`; a parser takes that only from a gauge.
    yield metrics.gauge("llamacpp:n_tokens_max", "The longest sequence so far.", seen.sequence_tokens_max)
    busy = seen.busy / passes if passes else 0.0
    yield metrics.gauge("llamacpp:n_busy_slots_per_decode", "Busy slots of a pass, the mean.", busy)
    prompt_rate = read_tokens / read_s if read_s else 0.0
    yield metrics.gauge("llamacpp:prompt_tokens_seconds", "Prompt tokens a second, the mean.", prompt_rate)
    answer_rate = written / written_s if written_s else 0.0
    yield metrics.gauge("llamacpp:predicted_tokens_seconds", "Tokens written a second, the mean.", answer_rate)
    yield metrics.gauge("llamacpp:requests_processing", "Requests in a slot.", load.running)
    yield metrics.gauge("llamacpp:requests_deferred", "Requests that wait for a slot.", load.waiting)


def timings(_: EmulatedEngine, generation: Generation) -> dict[str, object]:
    """How long the first sequence took, beside the usage."""
    life = generation.lives[0]
    admitted_at_s = life.arrived_at_s if life.admitted_at_s is None else life.admitted_at_s
    first_at_s = life.last_token_at_s if life.first_token_at_s is None else life.first_token_at_s
    prompt, prompt_s = life.prompt_tokens - life.cached_tokens, max(first_at_s - admitted_at_s, 1e-9)
    written_s = max(life.last_token_at_s - first_at_s, 1e-9)
    return {
        "timings": {
            "cache_n": life.cached_tokens,
            "prompt_n": prompt,
            "prompt_ms": prompt_s * 1e3,
            "prompt_per_token_ms": prompt_s * 1e3 / max(prompt, 1),
            "prompt_per_second": prompt / prompt_s,
            "predicted_n": life.tokens,
            "predicted_ms": written_s * 1e3,
            "predicted_per_token_ms": written_s * 1e3 / max(life.tokens, 1),
            "predicted_per_second": life.tokens / written_s,
        }
    }
