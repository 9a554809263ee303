"""SGLang: OpenAI's API; refusals on the top floor of their JSON, load in numbers that need `--enable-metrics`."""

from collections.abc import Sequence

import msgspec

from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineGarbage, EngineUnavailable, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.continuation import GO_ON, continue_chat, continue_text
from heterodyne.engines.error_answer import read_error
from heterodyne.engines.json_edit import put
from heterodyne.engines.openai import TEXT_PATHS, OwnEngineDialect
from heterodyne.engines.prometheus_page import count, read_page, share
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_control import ControlCall
from heterodyne.ports.engine_request import EngineRequest

TEXT_TOKENS_DEFAULT = 16  # of a completion without a length
NO_ADAPTER = "LoRA adapters are not loaded"
RANK = "dp_rank"
RUNNING, WAITING, KV_SHARE = "sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage"
KV_TOKENS, BLOCK_TOKENS = "sglang:max_total_num_tokens", "sglang:page_size"
PROMPT, CACHED, OUTPUT = "sglang:prompt_tokens_total", "sglang:cached_tokens_total", "sglang:generation_tokens_total"
STARTED = "process_start_time_seconds"
NAMES = (RUNNING, WAITING, KV_SHARE, KV_TOKENS, BLOCK_TOKENS, PROMPT, CACHED, OUTPUT, STARTED)


class _Load(msgspec.Struct):
    num_running_reqs: int
    num_waiting_reqs: int
    token_usage: float | None = None
    max_total_num_tokens: int | None = None


class _Loads(msgspec.Struct):
    loads: list[_Load]


class _Ranked(msgspec.Struct):
    score: float
    index: int
    document: str | None = None


_decode_loads = msgspec.json.Decoder(_Loads).decode
_decode_ranked = msgspec.json.Decoder(list[_Ranked]).decode


class SglangDialect(OwnEngineDialect):
    """Sleep needs `--enable-memory-saver`, and only an idle SGLang survives it: drain first."""

    name = "sglang"
    health_path = "/health"
    client_fields: frozenset[str] = client_fields.SGLANG
    load_paths: tuple[str, ...] = ("/metrics",)
    fallback_load_paths: tuple[str, ...] = ("/v1/loads?include=core",)  # no counters: no hit rate, no sign of a restart
    capabilities = frozenset(Capability)
    salted = frozenset({Operation.CHAT, Operation.COMPLETION})
    operations = frozenset({*TEXT_PATHS, Operation.RERANK})  # what it calls a score is another call than vLLM's
    context_words = ("model's context length", "maximum context length", "maximum allowed length")

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        if request.operation is Operation.CHAT:
            return continue_chat(request, delivered_text, GO_ON)
        return continue_text(request, delivered_text, tokens_default=TEXT_TOKENS_DEFAULT)

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        """An adapter is asked for beside the model: alone in its place, the model itself would answer."""
        call = super().call(request, replica)
        if replica.adapters and request.model in replica.adapters:
            changes = {"model": msgspec.json.encode(replica.engine_model or replica.model)}
            if request.operation not in (Operation.TOKENIZE, Operation.DETOKENIZE, Operation.COUNT):
                changes["lora_path"] = msgspec.json.encode(request.model)
            call.body = put(call.body, changes)
        return call

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        return _ranked(request, body) if request.operation is Operation.RERANK else body

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        if status == 400 and NO_ADAPTER in read_error(body).message:
            return EngineUnavailable("The engine does not hold the adapter it was asked for.")
        return super().refusal(request, status, body)

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        """Ranks of one data-parallel group repeat each other when every scheduler reports; groups add up."""
        if pages[0].lstrip()[:1] == b"{":
            return _read_loads(pages[0])
        page = read_page(pages[0], NAMES)
        prompt, cached = page.total(PROMPT), page.total(CACHED)
        return EngineLoad(
            running=count(page.total_per(RANK, RUNNING)),
            waiting=count(page.total_per(RANK, WAITING)),
            kv_share=share(page.largest(KV_SHARE)),
            kv_tokens=count(page.total_per(RANK, KV_TOKENS)),
            block_tokens=count(page.largest(BLOCK_TOKENS)),
            prefix_query_tokens=prompt,
            prefix_hit_tokens=cached,
            prompt_tokens=None if prompt is None else prompt - (cached or 0.0),
            output_tokens=page.total(OUTPUT),
            started_at_s=page.largest(STARTED),
        )

    def load_adapter(self, name: str, source: str) -> ControlCall | None:
        body = msgspec.json.encode({"lora_name": name, "lora_path": source})
        return ControlCall("POST", "/load_lora_adapter", body)

    def unload_adapter(self, name: str) -> ControlCall | None:
        return ControlCall("POST", "/unload_lora_adapter", msgspec.json.encode({"lora_name": name}))

    def sleep(self) -> ControlCall | None:
        return ControlCall("POST", "/release_memory_occupation", b"{}")

    def wake(self) -> ControlCall | None:
        return ControlCall("POST", "/resume_memory_occupation", b"{}")


def _ranked(request: Request, body: bytes) -> bytes:
    """Its list of scores, in the words that others have for it."""
    try:
        ranked = _decode_ranked(body)
    except (ValueError, RecursionError) as error:
        raise EngineGarbage("The engine's answer has not the promised form.") from error
    results = [
        {"index": one.index, "relevance_score": one.score}
        | ({} if one.document is None else {"document": {"text": one.document}})
        for one in ranked
    ]
    return msgspec.json.encode({"id": request.id, "model": request.model, "results": results})


def _read_loads(body: bytes) -> EngineLoad:
    try:
        loads = _decode_loads(body).loads
    except (ValueError, RecursionError) as error:
        raise EngineGarbage(f"The load page has not the promised form: {error}.") from error
    if not loads:
        raise EngineGarbage("The load page has no loads.")
    shares = [load.token_usage for load in loads if load.token_usage is not None]
    return EngineLoad(
        running=sum(load.num_running_reqs for load in loads),
        waiting=sum(load.num_waiting_reqs for load in loads),
        kv_share=share(max(shares, default=None)),
        kv_tokens=sum(load.max_total_num_tokens or 0 for load in loads) or None,
    )
