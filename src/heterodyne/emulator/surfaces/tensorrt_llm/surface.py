"""TensorRT-LLM's `trtllm-serve`, with performance metrics on.

Two traps are kept: `/metrics` is JSON and empty when another reader has just read it, Prometheus is elsewhere.
"""

from msgspec import Struct

from heterodyne.emulator.engine import SLEEPERS, EmulatedEngine
from heterodyne.emulator.observations import Life
from heterodyne.emulator.response import TEXT, EmulatorResponse, Refusal, json_response, read
from heterodyne.emulator.surface import Surface
from heterodyne.emulator.surfaces.errors import flat_error
from heterodyne.emulator.surfaces.tensorrt_llm.metrics import families
from heterodyne.emulator.surfaces.tensorrt_llm.records import Records
from heterodyne.wire.message import HttpRequest


class TensorrtMemoryRequest(Struct):
    """The body of giving memory back and taking it again."""

    tags: list[str] | None = None  # None: all


def tensorrt_llm(engine: EmulatedEngine) -> Surface:
    """With records of its own, begun now."""
    records = Records(engine)
    return Surface(
        health_paths=(b"/health", b"/health_generate"),
        metrics_path=b"/prometheus/metrics",
        families=families,
        error=flat_error,
        endpoints={
            (b"GET", b"/health"): _well,
            (b"GET", b"/health_generate"): _health_generate,
            (b"GET", b"/version"): _version,
            (b"GET", b"/v1/models"): _models,
            (b"GET", b"/metrics"): lambda _, __: json_response(records.take_iterations()),
            (b"GET", b"/perf_metrics"): _perf_metrics,
            (b"POST", b"/kv_cache_events"): lambda _, __: json_response(records.take_events()),
            (b"POST", b"/release_memory"): _release,
            (b"POST", b"/resume_memory"): _resume,
        },
    )


def _well(_: EmulatedEngine, __: HttpRequest) -> EmulatorResponse:
    return EmulatorResponse()


def _health_generate(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    if engine.asleep:
        return EmulatorResponse(status=500, body=b"Generation health check failed", kind=TEXT)
    return EmulatorResponse(body=b"Generation health check OK", kind=TEXT)


def _version(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    return json_response({"version": engine.order.engine_version})


def _models(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    """Only names; the context is absent, and adapters come with a request."""
    names = engine.model_names
    created = int(engine.started_at_s)
    data = [{"id": name, "object": "model", "created": created, "owned_by": "tensorrt_llm"} for name in names]
    return json_response({"object": "list", "data": data})


def _perf_metrics(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    lives = engine.observations.lives_over
    timings = [_perf(life, engine.order.scheduling.block_tokens) for life in lives]
    lives.clear()
    return json_response(timings)


def _perf(life: Life, block_tokens: int) -> dict[str, object]:
    reused = life.cached_tokens // block_tokens
    held = (life.prompt_tokens + life.tokens) // block_tokens + 1
    return {
        "request_id": life.job_id,
        "perf_metrics": {
            "timing_metrics": {
                "arrival_time": life.arrived_at_s,
                "first_scheduled_time": life.admitted_at_s,
                "first_token_time": life.first_token_at_s,
                "last_token_time": life.last_token_at_s,
            },
            "kv_cache_metrics": {
                "num_total_allocated_blocks": held,
                "num_new_allocated_blocks": held - reused,
                "num_reused_blocks": reused,
                "num_missed_blocks": (life.prompt_tokens - life.cached_tokens) // block_tokens,
            },
        },
    }


def _release(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    parts = _parts(read(request, TensorrtMemoryRequest))
    if engine.machine.running or engine.machine.waiting:
        return flat_error(Refusal(status=400, message="Memory can be released only while nothing is asked."))
    engine.sleep(1, parts=parts, aborts=False)
    return json_response({"status": "success"})


def _resume(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    engine.wake(_parts(read(request, TensorrtMemoryRequest)))
    return json_response({"status": "success"})


def _parts(call: TensorrtMemoryRequest) -> frozenset[str]:
    """It has finer parts than we tell apart: whatever is neither counts as weights."""
    if not call.tags:
        return SLEEPERS
    return frozenset("kv_cache" if tag == "kv_cache" else "weights" for tag in call.tags)
