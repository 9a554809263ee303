"""vLLM V1: its pages and control calls, among them those of its development mode."""

from msgspec import Struct

from heterodyne.emulator.adapters import AdapterRefusal
from heterodyne.emulator.engine import SLEEPERS, EmulatedEngine
from heterodyne.emulator.generation import Generation
from heterodyne.emulator.response import TEXT, EmulatorResponse, Refusal, json_response, query, read
from heterodyne.emulator.surface import Surface, load_of
from heterodyne.emulator.surfaces.errors import nested_error
from heterodyne.emulator.surfaces.models import models
from heterodyne.emulator.surfaces.tokens import detokenize, tokenize
from heterodyne.emulator.surfaces.vllm.metrics import families
from heterodyne.wire.message import HttpRequest


class VllmAdapterRequest(Struct):
    """The body of loading and unloading an adapter."""

    lora_name: str = ""
    lora_path: str = ""
    base_model_name: str | None = None


def _well(_: EmulatedEngine, __: HttpRequest) -> EmulatorResponse:
    return EmulatorResponse()


def _version(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    return json_response({"version": engine.order.engine_version})


def _load(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    load = load_of(engine)
    return json_response({"server_load": load.running + load.waiting})


def _load_adapter(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    asked = read(request, VllmAdapterRequest)
    if not asked.lora_name or not asked.lora_path:
        return _refused(400, "Both 'lora_name' and 'lora_path' are needed.")
    if asked.base_model_name not in (None, engine.order.served_model):
        return _refused(404, f"The model `{asked.base_model_name}` does not exist.")
    trouble = engine.adapters.try_load(asked.lora_name, asked.lora_path)
    if trouble is AdapterRefusal.LOADED:
        return _refused(400, f"The adapter '{asked.lora_name}' has already been loaded.")
    if trouble is AdapterRefusal.FULL:
        # What goes wrong inside the engine is an error of the server, also where the request caused it.
        return _refused(500, f"No free adapter slots: {engine.adapters.room} are loaded.")
    return EmulatorResponse(body=f"Success: LoRA adapter '{asked.lora_name}' added successfully.".encode(), kind=TEXT)


def _unload_adapter(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    name = read(request, VllmAdapterRequest).lora_name
    if engine.adapters.try_unload(name) is AdapterRefusal.MISSING:
        return _refused(404, f"The adapter '{name}' cannot be found.")
    return EmulatorResponse(body=f"Success: LoRA adapter '{name}' removed successfully.".encode(), kind=TEXT)


def _sleep(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    words = query(request)
    level, mode = words.get("level", ["1"])[0], words.get("mode", ["abort"])[0]
    if level not in ("0", "1", "2") or mode not in ("abort", "keep", "wait"):
        return _refused(400, f"level {level}, mode {mode}: levels are 0 to 2, modes abort, keep and wait.")
    if mode == "wait":
        return _refused(501, "The emulator does not wait for requests to end; choose abort or keep.")
    engine.sleep(int(level), aborts=mode == "abort")
    return EmulatorResponse()


def _wake_up(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    engine.wake(frozenset(query(request).get("tags", ())) or SLEEPERS)
    return EmulatorResponse()


def _is_sleeping(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    return json_response({"is_sleeping": bool(engine.asleep)})


def _reset_prefix_cache(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    engine.reset_cache()  # it answers the same when blocks are in use and nothing happens
    return EmulatorResponse()


def _refused(status: int, message: str) -> EmulatorResponse:
    return nested_error(Refusal(status=status, message=message))


def _hand_over(engine: EmulatedEngine, generation: Generation) -> dict[str, object]:
    """Beside a prompt that was computed for another engine."""
    job = generation.planned[0].job
    return {"kv_transfer_params": engine.kv.params(job) or None} if job.keeps_kv else {}


VLLM = Surface(
    health_paths=(b"/health", b"/ping"),
    metrics_path=b"/metrics",
    families=families,
    error=nested_error,
    extra_fields=_hand_over,
    refuses_asleep=False,  # its scheduler is paused: requests pile up behind it
    endpoints={
        (b"GET", b"/health"): _well,
        (b"GET", b"/ping"): _well,
        (b"POST", b"/ping"): _well,
        (b"GET", b"/version"): _version,
        (b"GET", b"/load"): _load,
        (b"GET", b"/v1/models"): models("vllm"),
        (b"POST", b"/tokenize"): tokenize,
        (b"POST", b"/detokenize"): detokenize,
        (b"POST", b"/v1/load_lora_adapter"): _load_adapter,
        (b"POST", b"/v1/unload_lora_adapter"): _unload_adapter,
        (b"POST", b"/sleep"): _sleep,
        (b"POST", b"/wake_up"): _wake_up,
        (b"GET", b"/is_sleeping"): _is_sleeping,
        (b"POST", b"/reset_prefix_cache"): _reset_prefix_cache,
    },
)
