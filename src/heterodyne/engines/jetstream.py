"""JetStream's HTTP server (archived): one call that takes a text and a limit, and answers in pieces of JSON in a row.

It has no chat, no streams that a client could read, and samples as it was started: `temperature`, `top_p` and `seed`
have no effect. vLLM's TPU plugin is what replaces it.
"""

from collections.abc import Iterator, Sequence
from json import JSONDecodeError, JSONDecoder

import msgspec

from heterodyne.domain.engine_load import Capability, EngineLoad, ServedModel
from heterodyne.domain.errors import EngineGarbage, InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.engines.prometheus_page import PrometheusPage, count, read_page, share
from heterodyne.ports.engine_request import EngineRequest

TOKENS_DEFAULT = 16  # as OpenAI has it; JetStream wants a number
SLOTS_SHARE, KV_SHARE = "jetstream_slots_used_percentage", "kv_cache_utilization_perc"
BACKLOGS = ("jetstream_prefill_backlog_size", "jetstream_transfer_backlog_size", "jetstream_generate_backlog_size")
PROMPT, OUTPUT = "jetstream_request_input_length_sum", "jetstream_request_output_length_sum"
LORA, STARTED = "lora_request_info", "process_start_time_seconds"
NAMES = ((KV_SHARE, SLOTS_SHARE), *BACKLOGS, PROMPT, OUTPUT, LORA, STARTED)


class _Asked(msgspec.Struct):
    """What of a text completion decides its form; null and absent are the same."""

    prompt: str | list[str | int | list[int]]
    max_tokens: int | None = None
    stop: object = None
    logprobs: object = None
    echo: object = None
    suffix: object = None
    logit_bias: object = None


class _Health(msgspec.Struct):
    is_live: str | bool


class _SampleText(msgspec.Struct, rename="camel"):
    text: str = ""
    token_ids: list[int] = []


class _StreamContent(msgspec.Struct):
    samples: list[_SampleText] = []


class _Piece(msgspec.Struct, rename="camel"):
    stream_content: _StreamContent | None = None  # None: it only says that it has begun


_decode_asked = msgspec.json.Decoder(_Asked).decode
_decode_health = msgspec.json.Decoder(_Health).decode
_next_json = JSONDecoder().raw_decode


class JetStreamDialect(OwnEngineDialect):
    """Its metrics are on a port of their own, 9988 by default."""

    name = "jetstream"
    health_path = "/v1/health"
    client_fields: frozenset[str] = frozenset()
    models_path: str | None = None
    load_paths: tuple[str, ...] = ("/metrics",)
    load_port: int | None = 9988
    operations = frozenset({Operation.COMPLETION})
    has_choices = False
    capabilities: frozenset[Capability] = frozenset()

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        super().call(request, replica)  # for what it refuses
        if request.stream:
            raise InvalidField("stream: the engine of this model does not stream.", param="stream")
        asked = _decode_asked(request.body)
        for name in ("stop", "logprobs", "echo", "suffix", "logit_bias"):
            value = getattr(asked, name)
            if value is not None and value is not False and value not in ("", [], {}):
                raise InvalidField(f"{name}: the engine of this model does not know it.", param=name)
        body = {"max_tokens": asked.max_tokens or TOKENS_DEFAULT, **_content(asked.prompt)}
        return EngineRequest(replica.base_path + "/v1/generate", msgspec.json.encode(body))

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        """It counts neither prompt nor answer; the token ids of the answer tell why it ended."""
        text, tokens = "", 0
        for sample in _samples(body):
            text += sample.text
            tokens += len(sample.token_ids)
        limit = request.output_tokens_max or TOKENS_DEFAULT
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": "length" if tokens >= limit else "stop"}
        return msgspec.json.encode(
            {"id": request.id, "object": "text_completion", "created": 0, "model": request.model, "choices": [choice]}
        )

    def is_ready(self, status: int, body: bytes) -> bool:
        """It answers 200 whether or not it lives."""
        try:
            return status == 200 and str(_decode_health(body).is_live).lower() == "true"
        except (ValueError, RecursionError):
            return False

    def read_models(self, body: bytes) -> tuple[ServedModel, ...]:
        raise EngineGarbage("JetStream has no model list.")

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        """A request waits for its prompt, for its KV to be moved, or for a slot; slots stand for memory."""
        page = read_page(pages[0], NAMES)
        backlogs = [backlog for name in BACKLOGS if (backlog := page.total(name)) is not None]
        return EngineLoad(
            waiting=count(sum(backlogs)) if backlogs else None,
            kv_share=share(page.largest(KV_SHARE, SLOTS_SHARE)),
            prompt_tokens=page.total(PROMPT),
            output_tokens=page.total(OUTPUT),
            started_at_s=page.largest(STARTED),
            adapters=_adapters(page),
        )


def _content(prompt: str | list[str | int | list[int]]) -> dict[str, object]:
    if isinstance(prompt, str):
        return {"text_content": {"text": prompt}}
    if prompt and all(isinstance(one, int) for one in prompt):
        return {"token_content": {"token_ids": prompt}}
    raise InvalidField("prompt: the engine of this model takes one text or one list of token ids.", param="prompt")


def _samples(body: bytes) -> Iterator[_SampleText]:
    """The first sample of every piece; the pieces stand one behind the other with nothing between."""
    try:
        text = body.decode()
        at = 0
        while (at := len(text) - len(text[at:].lstrip())) < len(text):
            raw, at = _next_json(text, at)
            piece = msgspec.convert(raw, _Piece)
            if piece.stream_content is not None and piece.stream_content.samples:
                yield piece.stream_content.samples[0]
    except (JSONDecodeError, ValueError, RecursionError) as error:
        raise EngineGarbage("The engine's answer is not a row of JSON objects.") from error


def _adapters(page: PrometheusPage) -> tuple[str, ...]:
    names = {
        name for sample in page.samples(LORA) for name in sample.labels.get("running_lora_adapters", "").split(",")
    }
    return tuple(sorted(name for name in names if name))
