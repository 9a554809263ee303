"""TensorRT-LLM's `trtllm-serve`: OpenAI's API, strictly: a member it does not know is refused with 400."""

from collections.abc import Sequence

from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.continuation import continue_text
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.engines.prometheus_page import count, read_page, share
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_control import ControlCall

RUNNING, WAITING = "trtllm_num_requests_running", "trtllm_num_requests_waiting"
KV_SHARE = "trtllm_kv_cache_utilization"
BLOCKS, BLOCK_TOKENS = "trtllm_kv_cache_max_blocks", "trtllm_kv_cache_tokens_per_block"
PROMPT, CACHED, OUTPUT = (
    "trtllm_prompt_tokens_total",
    "trtllm_prompt_cached_tokens_total",
    "trtllm_generation_tokens_total",
)
STARTED = "process_start_time_seconds"
NAMES = (RUNNING, WAITING, KV_SHARE, BLOCKS, BLOCK_TOKENS, PROMPT, CACHED, OUTPUT, STARTED)


class TensorRtLlmDialect(OwnEngineDialect):
    """Its Prometheus page is there only with `return_perf_metrics`, and not at the usual path.

    Chat has `cache_salt`, text completions have not, so it is not among the capabilities. Releasing memory needs its
    reinforcement-learning endpoints, which are off unless asked for and then want a key of their own.
    """

    name = "tensorrt-llm"
    health_path = "/health"
    client_fields: frozenset[str] = client_fields.TENSORRT_LLM
    load_paths: tuple[str, ...] = ("/prometheus/metrics",)
    salted = frozenset({Operation.CHAT})
    operations = frozenset({Operation.CHAT, Operation.COMPLETION, Operation.EMBEDDING})
    capabilities = frozenset(
        {Capability.TOOLS, Capability.JSON_SCHEMA, Capability.LOGPROBS, Capability.VISION, Capability.EMBEDDINGS}
    )
    context_words = ("max_num_tokens", "max_seq_len", "max_input_len", "default_max_tokens", "maximum context length")

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        """Its chat closes every message with the template's end of turn; only text can go on, within a given limit."""
        if request.output_tokens_max is None:
            return None
        return continue_text(request, delivered_text, tokens_default=None)

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        if pages[0].lstrip()[:1] in (b"[", b"{"):
            raise EngineGarbage(
                "The metrics page is JSON: trtllm-serve has its iterations at /metrics and "
                "its Prometheus page at /prometheus/metrics, when started with return_perf_metrics."
            )
        page = read_page(pages[0], NAMES)
        prompt, cached = page.total(PROMPT), page.total(CACHED)
        blocks, block_tokens = page.total(BLOCKS), page.largest(BLOCK_TOKENS)
        return EngineLoad(
            running=count(page.total(RUNNING)),
            waiting=count(page.total(WAITING)),
            kv_share=share(page.largest(KV_SHARE)),
            kv_tokens=None if blocks is None or block_tokens is None else count(blocks * block_tokens),
            block_tokens=count(block_tokens),
            prefix_query_tokens=prompt,
            prefix_hit_tokens=cached,
            prompt_tokens=None if prompt is None else prompt - (cached or 0.0),
            output_tokens=page.total(OUTPUT),
            started_at_s=page.largest(STARTED),
        )

    def sleep(self) -> ControlCall | None:
        return ControlCall("POST", "/release_memory", b"{}")

    def wake(self) -> ControlCall | None:
        return ControlCall("POST", "/resume_memory", b"{}")
