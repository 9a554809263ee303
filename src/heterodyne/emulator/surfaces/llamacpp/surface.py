"""llama.cpp's server with `--metrics`: no gauge for KV memory, no sleep on demand, slots instead."""

from msgspec import Struct

from heterodyne.emulator import tokenizer
from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.response import EmulatorResponse, Refusal, json_response, query, read
from heterodyne.emulator.surface import EmulatorEndpoint, Surface, load_of
from heterodyne.emulator.surfaces.llamacpp.metrics import families, timings
from heterodyne.emulator.surfaces.tokens import DetokenizeRequest, text_of
from heterodyne.wire.message import HttpRequest

SLOTS_MAX = 64  # that can be saved
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    501: "not_supported_error",
    503: "unavailable_error",
}


class Text(Struct):
    """A text to tokenize."""

    content: str
    with_pieces: bool = False


class SlotFileName(Struct):
    """The file of a slot."""

    filename: str = ""


class AdapterScale(Struct):
    """How strongly an adapter acts."""

    id: int
    scale: float


def _error(refusal: Refusal) -> EmulatorResponse:
    kind = KINDS.get(refusal.status, "server_error")
    if refusal.code == "context_length_exceeded":
        kind = "exceed_context_size_error"
    return json_response({"error": {"code": refusal.status, "message": refusal.message, "type": kind}}, refusal.status)


def _health(_: EmulatedEngine, __: HttpRequest) -> EmulatorResponse:
    return json_response({"status": "ok"})


def _models(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    spec = engine.order.layout.model
    model = {
        "id": engine.order.served_model,
        "object": "model",
        "created": int(engine.started_at_s),
        "owned_by": "llamacpp",
        "meta": {"n_vocab": spec.vocabulary, "n_ctx_train": spec.context_tokens, "n_embd": spec.hidden},
    }
    return json_response({"object": "list", "data": [model]})


def _props(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    order = engine.order
    return json_response(
        {
            "default_generation_settings": {"id": 0, "n_ctx": order.context_tokens, "is_processing": False},
            "total_slots": order.scheduling.slots,
            "model_alias": order.served_model,
            "model_path": f"{order.layout.model.name}.gguf",
            "modalities": {"vision": False, "audio": False},
            "chat_template": "",
            "build_info": order.engine_version,
            "is_sleeping": False,
        }
    )


def _slots(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    total = engine.order.scheduling.slots
    if query(request).get("fail_on_no_slot") and load_of(engine).running >= total:
        return _error(Refusal(status=503, message="no slot available"))
    slots: list[dict[str, object]] = []
    for planned, life in engine.under_way():
        if life.admitted_at_s is not None and len(slots) < total:
            left = len(planned.tokens) - life.tokens
            slots.append(
                _slot(engine, len(slots), task=life.job_id)
                | {
                    "is_processing": True,
                    "n_prompt_tokens": life.prompt_tokens,
                    "n_prompt_tokens_cache": life.cached_tokens,
                    "next_token": [{"has_next_token": left > 0, "n_remain": left, "n_decoded": life.tokens}],
                }
            )
    return json_response([*slots, *(_slot(engine, number, task=-1) for number in range(len(slots), total))])


def _slot(engine: EmulatedEngine, number: int, *, task: int) -> dict[str, object]:
    """An idle one; llama.cpp splits its context evenly unless configured otherwise, we give each the whole."""
    return {
        "id": number,
        "id_task": task,
        "n_ctx": engine.order.context_tokens,
        "speculative": engine.order.speculation is not None,
        "is_processing": False,
    }


def _adapters(engine: EmulatedEngine, _: HttpRequest) -> EmulatorResponse:
    return json_response(
        [{"id": adapter.number - 1, "path": adapter.path, "scale": adapter.scale} for adapter in engine.adapters.loaded]
    )


def _set_adapters(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    engine.adapters.set_scales({one.id + 1: one.scale for one in read(request, list[AdapterScale])})
    return json_response({"success": True})


def _act_on(number: int) -> EmulatorEndpoint:
    """Save, restore or erase one slot."""

    def act(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
        action = query(request).get("action", [""])[0]
        name = read(request, SlotFileName).filename
        slots, answer = engine.slots, {"id_slot": number, "filename": name}
        if action == "save":
            content = slots.save(number, name)
            return json_response(answer | {"n_saved": content.tokens, "n_written": slots.size(name)})
        if action == "restore":
            content = slots.restore(number, name)
            return json_response(answer | {"n_restored": content.tokens, "n_read": slots.size(name)})
        if action == "erase":
            return json_response({"id_slot": number, "n_erased": slots.erase(number).tokens})
        slots.save(-1, "none")  # without a folder it says so first
        return _error(Refusal(status=400, message="Invalid action"))

    return act


def _tokenize(_: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    asked = read(request, Text)
    ids = tokenizer.token_ids(asked.content.encode())
    if asked.with_pieces:
        return json_response({"tokens": [{"id": one, "piece": text_of([one])} for one in ids]})
    return json_response({"tokens": ids})


def _detokenize(_: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    return json_response({"content": text_of(read(request, DetokenizeRequest).tokens)})


LLAMACPP = Surface(
    health_paths=(b"/health", b"/v1/health"),
    metrics_path=b"/metrics",
    families=families,
    error=_error,
    extra_fields=timings,
    endpoints={
        (b"GET", b"/health"): _health,
        (b"GET", b"/v1/health"): _health,
        (b"GET", b"/v1/models"): _models,
        (b"GET", b"/props"): _props,
        (b"GET", b"/slots"): _slots,
        **{(b"POST", b"/slots/%d" % number): _act_on(number) for number in range(SLOTS_MAX)},
        (b"GET", b"/lora-adapters"): _adapters,
        (b"POST", b"/lora-adapters"): _set_adapters,
        (b"POST", b"/tokenize"): _tokenize,
        (b"POST", b"/detokenize"): _detokenize,
    },
)
