"""vLLM V1 and its plugins for TPU, Gaudi and Neuron: OpenAI's API, so bodies and streams pass as they come."""

from collections.abc import Sequence

import msgspec

from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineRefused, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.continuation import GO_ON, continue_chat, continue_text
from heterodyne.engines.error_answer import read_error
from heterodyne.engines.openai import PATHS, OwnEngineDialect
from heterodyne.engines.prometheus_page import PrometheusPage, PrometheusSample, count, read_page, share
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_control import ControlCall

DIGITS_MAX = 12
NO_ROUTE = "Not Found"
TEXT_TOKENS_DEFAULT = 16  # of a completion without a length
RUNNING, WAITING = "vllm:num_requests_running", "vllm:num_requests_waiting"
# Older names stand behind today's.
KV_SHARE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
PREFIX_QUERIES = ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total")
PREFIX_HITS = ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total")
PROMPT, CACHED, OUTPUT = "vllm:prompt_tokens_total", "vllm:prompt_tokens_cached_total", "vllm:generation_tokens_total"
CACHE, LORA, SLEEP = "vllm:cache_config_info", "vllm:lora_requests_info", "vllm:engine_sleep_state"
STARTED = "process_start_time_seconds"
NAMES = (
    RUNNING,
    WAITING,
    KV_SHARE,
    PREFIX_QUERIES,
    PREFIX_HITS,
    PROMPT,
    CACHED,
    OUTPUT,
    CACHE,
    LORA,
    SLEEP,
    STARTED,
)


class VllmDialect(OwnEngineDialect):
    """Adapters can be loaded while it runs with `VLLM_ALLOW_RUNTIME_LORA_UPDATING=True`.

    Sleep and wake are there only in its development mode (`VLLM_SERVER_DEV_MODE=1`), which also lets every client that
    reaches the port run code in its workers: only behind a wall that lets nothing else through.
    """

    name = "vllm"
    health_path = "/health"
    client_fields: frozenset[str] = client_fields.VLLM
    load_paths: tuple[str, ...] = ("/metrics",)
    capabilities = frozenset(Capability)
    salted = frozenset({Operation.CHAT, Operation.COMPLETION})
    operations = frozenset(PATHS)  # which of them it has hangs on the model it serves
    context_words = (
        "maximum context length",
        "maximum model length",
        "longer than the maximum",
        "greater than max_model_len",
    )

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        if request.operation is Operation.CHAT:
            return continue_chat(request, delivered_text, GO_ON)
        return continue_text(request, delivered_text, tokens_default=TEXT_TOKENS_DEFAULT)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        """Its routes depend on the model: one that generates has no embeddings, and its web server says so."""
        if status == 404 and read_error(body).message == NO_ROUTE:
            return EngineRefused(f"The engine of this model has no {request.operation} call.", status=501)
        return super().refusal(request, status, body)

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        """Data-parallel ranks come as label sets of one page: their queues add up, the fullest memory counts."""
        page = read_page(pages[0], NAMES)
        prompt, cached = page.total(PROMPT), page.total(CACHED)
        kv_tokens, block_tokens = _memory(page)
        return EngineLoad(
            running=count(page.total(RUNNING)),
            waiting=count(page.total(WAITING)),
            kv_share=share(page.largest(*KV_SHARE)),
            kv_tokens=kv_tokens,
            block_tokens=block_tokens,
            prefix_query_tokens=page.total(*PREFIX_QUERIES),
            prefix_hit_tokens=page.total(*PREFIX_HITS),
            prompt_tokens=None if prompt is None else prompt - (cached or 0.0),
            output_tokens=page.total(OUTPUT),
            started_at_s=page.largest(STARTED),
            adapters=_adapters(page),
            is_asleep=_is_asleep(page),
        )

    def load_adapter(self, name: str, source: str) -> ControlCall | None:
        body = msgspec.json.encode({"lora_name": name, "lora_path": source})
        return ControlCall("POST", "/v1/load_lora_adapter", body)

    def unload_adapter(self, name: str) -> ControlCall | None:
        return ControlCall("POST", "/v1/unload_lora_adapter", msgspec.json.encode({"lora_name": name}))

    def sleep(self) -> ControlCall | None:
        """Level 1 keeps the weights in the host's memory."""
        return ControlCall("POST", "/sleep?level=1")

    def wake(self) -> ControlCall | None:
        return ControlCall("POST", "/wake_up")


def _memory(page: PrometheusPage) -> tuple[int | None, int | None]:
    """Tokens that fit, of all ranks together, and tokens of a block; both are labels, and may say `None`."""
    tokens, size = 0, None
    for sample in page.samples(CACHE):
        block, blocks = _number(sample, "block_size"), _number(sample, "num_gpu_blocks")
        size = block or size
        tokens += (block or 0) * (blocks or 0)
    return tokens or None, size


def _number(sample: PrometheusSample, label: str) -> int | None:
    text = sample.labels.get(label, "")
    return int(text) if text.isdecimal() and len(text) <= DIGITS_MAX else None


def _adapters(page: PrometheusPage) -> tuple[str, ...]:
    """Those that requests use, in the newest line: its value is a time, and old lines are never taken away."""
    newest = max(page.samples(LORA), key=lambda sample: sample.value, default=None)
    names = "" if newest is None else newest.labels.get("running_lora_adapters", "")
    return tuple(name for name in names.split(",") if name)


def _is_asleep(page: PrometheusPage) -> bool:
    awake = [sample.value for sample in page.samples(SLEEP) if sample.labels.get("sleep_state") == "awake"]
    return bool(awake) and not all(awake)
