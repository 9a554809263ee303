"""LMDeploy's `api_server`: OpenAI's API; its health page says 200 while it sleeps."""

from collections.abc import Sequence

import msgspec

from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.continuation import continue_chat, continue_text
from heterodyne.engines.error_answer import context_exceeded
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.engines.prometheus_page import count, read_page, share
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_control import ControlCall
from heterodyne.ports.engine_request import EngineRequest

RUNNING = "lmdeploy:num_requests_running"
WAITING, WAITING_OUTSIDE = "lmdeploy:num_requests_waiting", "lmdeploy:num_api_requests_waiting"
KV_SHARE = "lmdeploy:gpu_cache_usage_perc"
PROMPT, CACHED, OUTPUT = (
    "lmdeploy:prompt_tokens_total",
    "lmdeploy:cached_tokens_total",
    "lmdeploy:generation_tokens_total",
)
STARTED = "process_start_time_seconds"
NAMES = (RUNNING, WAITING, WAITING_OUTSIDE, KV_SHARE, PROMPT, CACHED, OUTPUT, STARTED)


class _Health(msgspec.Struct):
    status: str = "healthy"  # older ones answer with an empty page


_decode_health = msgspec.json.Decoder(_Health).decode


class _Choice(msgspec.Struct):
    finish_reason: str | None = None


class _Answer(msgspec.Struct):
    choices: list[_Choice] = []


_decode_answer = msgspec.json.Decoder(_Answer).decode


class LmdeployDialect(OwnEngineDialect):
    """Requests wait in two places, before its engine and inside; both are counted."""

    name = "lmdeploy"
    health_path = "/health"
    client_fields: frozenset[str] = client_fields.LMDEPLOY
    load_paths: tuple[str, ...] = ("/metrics",)
    operations = frozenset({Operation.CHAT, Operation.COMPLETION})
    has_choices = False  # up to 0.14; it says so in its log alone
    capabilities = frozenset(
        {
            Capability.TOOLS,
            Capability.JSON_SCHEMA,
            Capability.LOGPROBS,
            Capability.VISION,
            Capability.LORA,
            Capability.CONTINUES_ANSWERS,
        }
    )
    context_words = ("context length", "session_len", "session length")

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        """Up to 0.14 a prompt beyond its context is answered with nothing, ended by its length."""
        if body.find(b'"completion_tokens":0') >= 0 and _is_cut_to_nothing(body):
            raise context_exceeded(request, "The prompt is longer than the context of this model.")
        return body

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        """A last message of the assistant's is continued without further words."""
        if request.operation is Operation.CHAT:
            return continue_chat(request, delivered_text, {})
        return (
            None if request.output_tokens_max is None else continue_text(request, delivered_text, tokens_default=None)
        )

    def is_ready(self, status: int, body: bytes) -> bool:
        if status != 200:
            return False
        try:
            return not body.strip() or _decode_health(body).status == "healthy"
        except (ValueError, RecursionError):
            return False

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        page = read_page(pages[0], NAMES)
        waiting, outside = page.total(WAITING), page.total(WAITING_OUTSIDE)
        prompt, cached = page.total(PROMPT), page.total(CACHED)
        return EngineLoad(
            running=count(page.total(RUNNING)),
            waiting=None if waiting is None else count(waiting + (outside or 0.0)),
            kv_share=share(page.largest(KV_SHARE)),
            prefix_query_tokens=None if cached is None else prompt,
            prefix_hit_tokens=cached,
            prompt_tokens=None if prompt is None else prompt - (cached or 0.0),
            output_tokens=page.total(OUTPUT),
            started_at_s=page.largest(STARTED),
        )

    def sleep(self) -> ControlCall | None:
        """Level 1 keeps the weights in the host's memory."""
        return ControlCall("POST", "/sleep?level=1", b"{}")

    def wake(self) -> ControlCall | None:
        return ControlCall("POST", "/wakeup", b"{}")


def _is_cut_to_nothing(body: bytes) -> bool:
    try:
        return any(choice.finish_reason == "length" for choice in _decode_answer(body).choices)
    except (ValueError, RecursionError) as error:
        raise EngineGarbage("The engine's answer has not the promised form.") from error
