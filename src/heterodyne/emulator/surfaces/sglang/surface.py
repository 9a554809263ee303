"""SGLang: its pages and control calls. Metrics are on, as after `--enable-metrics`."""

from msgspec import Struct

from heterodyne.emulator.adapters import AdapterRefusal
from heterodyne.emulator.engine import SLEEPERS, EmulatedEngine
from heterodyne.emulator.response import TEXT, EmulatorResponse, Refusal, json_response, read
from heterodyne.emulator.surface import Surface
from heterodyne.emulator.surfaces.errors import flat_error
from heterodyne.emulator.surfaces.models import models
from heterodyne.emulator.surfaces.sglang.loads import loads, old_load
from heterodyne.emulator.surfaces.sglang.metrics import families
from heterodyne.emulator.surfaces.tokens import detokenize, tokenize
from heterodyne.wire.message import HttpRequest


class SglangAdapterRequest(Struct):
    """The body of loading and unloading an adapter."""

    lora_name: str
    lora_path: str = ""


class SglangMemoryRequest(Struct):
    """The body of giving memory back and taking it again."""

    tags: list[str] | None = None  # None: all


def _well(_: EmulatedEngine, __: HttpRequest) -> EmulatorResponse:
    return EmulatorResponse()


def _model_info(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    name = engine.order.layout.model.name
    return json_response(
        {
            "model_path": name,
            "tokenizer_path": name,
            "is_generation": True,
            "preferred_sampling_params": None,
            "weight_version": "default",
            "has_image_understanding": False,
            "has_audio_understanding": False,
        }
    )


def _server_info(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    order, scheduling = engine.order, engine.order.scheduling
    return json_response(
        {
            "model_path": order.layout.model.name,
            "served_model_name": order.served_model,
            "context_length": order.context_tokens,
            "tp_size": order.layout.tp,
            "dp_size": 1,
            "page_size": scheduling.block_tokens,
            "kv_cache_dtype": str(order.layout.kv_precision),
            "max_total_num_tokens": scheduling.kv_tokens,
            "max_running_requests": scheduling.slots,
            "chunked_prefill_size": scheduling.step_tokens,
            "max_loaded_loras": engine.adapters.room,
            "internal_states": [{"last_gen_throughput": engine.observations.decode_tokens_per_s}],
            "version": order.engine_version,
            "kv_events": _kv_events(engine),
        }
    )


def _kv_events(engine: EmulatedEngine) -> dict[str, object] | None:
    """Where KV events are; a router finds them from here."""
    if engine.kv_endpoint is None or not engine.kv_endpoint.startswith("tcp://"):
        return None
    host, _, port = engine.kv_endpoint.removeprefix("tcp://").rpartition(":")
    return {
        "publisher": "zmq",
        "endpoint_host": "*" if host == "0.0.0.0" else host,  # noqa: S104  it is spoken of, not bound
        "endpoint_port_base": int(port),
        "topic": "",
        "block_size": engine.order.scheduling.block_tokens,
        "dp_size": 1,
    }


def _load_adapter(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    asked = read(request, SglangAdapterRequest)
    trouble = engine.adapters.try_load(asked.lora_name, asked.lora_path)
    messages = {
        AdapterRefusal.LOADED: f"The adapter {asked.lora_name} is already loaded.",
        AdapterRefusal.FULL: f"No room for {asked.lora_name}: {engine.adapters.room} adapters are loaded.",
    }
    return _adapters(engine, None if trouble is None else messages[trouble])


def _unload_adapter(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    name = read(request, SglangAdapterRequest).lora_name
    trouble = engine.adapters.try_unload(name)
    return _adapters(engine, None if trouble is None else f"The adapter {name} is not loaded.")


def _adapters(engine: EmulatedEngine, trouble: str | None) -> EmulatorResponse:
    loaded = {adapter.name: adapter.path for adapter in engine.adapters.loaded}
    answer = {"success": trouble is None, "error_message": trouble or "", "loaded_adapters": loaded}
    return json_response(answer, 200 if trouble is None else 400)


def _release(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    parts = _parts(read(request, SglangMemoryRequest))
    if engine.machine.running or engine.machine.waiting:
        # The real one ends itself here; a refusal says the same and is easier to test with.
        return flat_error(Refusal(status=400, message="Memory can be released only while nothing is asked."))
    engine.sleep(1, parts=parts, aborts=False)
    return EmulatorResponse()


def _resume(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    engine.wake(_parts(read(request, SglangMemoryRequest)))
    return EmulatorResponse()


def _parts(call: SglangMemoryRequest) -> frozenset[str]:
    return SLEEPERS if not call.tags else SLEEPERS & frozenset(call.tags)


def _flush_cache(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    if engine.machine.waiting or not engine.reset_cache():
        return EmulatorResponse(status=400, body=b"Flush cache failed: requests run or wait.\n", kind=TEXT)
    return EmulatorResponse(body=b"Cache flushed.\n", kind=TEXT)


SGLANG = Surface(
    health_paths=(b"/health", b"/health_generate"),
    metrics_path=b"/metrics",
    families=families,
    error=flat_error,
    endpoints={
        (b"GET", b"/health"): _well,
        (b"GET", b"/health_generate"): _well,
        (b"GET", b"/v1/models"): models("sglang"),
        (b"GET", b"/model_info"): _model_info,
        (b"GET", b"/get_model_info"): _model_info,
        (b"GET", b"/server_info"): _server_info,
        (b"GET", b"/get_server_info"): _server_info,
        (b"GET", b"/v1/loads"): loads,
        (b"GET", b"/get_load"): old_load,
        (b"POST", b"/tokenize"): tokenize,
        (b"POST", b"/detokenize"): detokenize,
        (b"POST", b"/load_lora_adapter"): _load_adapter,
        (b"POST", b"/unload_lora_adapter"): _unload_adapter,
        (b"POST", b"/release_memory_occupation"): _release,
        (b"POST", b"/resume_memory_occupation"): _resume,
        (b"POST", b"/flush_cache"): _flush_cache,
        (b"GET", b"/flush_cache"): _flush_cache,
    },
)
