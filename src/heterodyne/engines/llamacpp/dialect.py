"""llama.cpp's server: OpenAI's API with a few fields missing and its own tokenizer calls."""

from base64 import b64decode
from collections.abc import Sequence

import msgspec

from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineGarbage, EngineUnavailable, HeterodyneError, InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.collect_stream import collect_chat, collect_text
from heterodyne.engines.continuation import GO_ON, continue_chat, continue_text
from heterodyne.engines.error_answer import context_exceeded, read_error, refused
from heterodyne.engines.json_edit import put
from heterodyne.engines.llamacpp.load import read_metrics, read_slots
from heterodyne.engines.llamacpp.stream import LlamaCppStream
from heterodyne.engines.openai import TEXT_PATHS, OwnEngineDialect
from heterodyne.engines.openai_body import INCLUDE_USAGE
from heterodyne.engines.tool_choice import bind_tool_choice
from heterodyne.ports.engine import DeliveredText, EventEdit
from heterodyne.ports.engine_request import EngineRequest

FLOAT_BYTES = 4
TOO_LONG = "exceed_context_size_error"
# What llama.cpp answers with 500 although the request is to blame begins like this.
CALLERS_MISTAKES = ("image input is not", "audio input is not", "Failed to parse tools", "Failed to parse messages")


class _ContextError(msgspec.Struct):
    n_prompt_tokens: int = 0
    n_ctx: int = 0
    type: str = ""
    message: str = ""


class _ContextErrorAnswer(msgspec.Struct):
    error: _ContextError


_decode_context_error = msgspec.json.Decoder(_ContextErrorAnswer).decode


class LlamaCppDialect(OwnEngineDialect):
    """Adds what OpenAI's schema requires and llama.cpp leaves out.

    It has the adapters it was started with, each in every request as strongly as its scale says: none can be loaded
    while it runs or asked for by name, so it counts as an engine without.
    """

    name = "llamacpp"
    health_path = "/health"
    client_fields: frozenset[str] = client_fields.LLAMACPP
    operations = frozenset({*TEXT_PATHS, Operation.RERANK})
    load_paths: tuple[str, ...] = ("/metrics",)
    fallback_load_paths: tuple[str, ...] = ("/slots",)
    capabilities = frozenset(
        {
            Capability.TOOLS,
            Capability.JSON_SCHEMA,
            Capability.LOGPROBS,
            Capability.VISION,
            Capability.EMBEDDINGS,
            Capability.CONTINUES_ANSWERS,
        }
    )

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        if request.operation in (Operation.TOKENIZE, Operation.COUNT):
            return _begin_tokenize(request.body, replica)
        call = super().call(request, replica)
        if request.operation is Operation.CHAT and replica.tool_call_opening is not None:
            call.body = bind_tool_choice(call.body, replica.tool_call_opening)
        if request.operation in (Operation.CHAT, Operation.COMPLETION) and not request.stream:
            # llama.cpp notices that a client has gone when it writes to it, and a whole answer it writes at the end.
            call.body = put(call.body, {"stream": b"true", "stream_options": INCLUDE_USAGE})
        return call

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        try:
            match request.operation:
                case Operation.CHAT:
                    return collect_chat(body, LlamaCppStream(request.operation, request.choices))
                case Operation.COMPLETION:
                    return collect_text(body, LlamaCppStream(request.operation, request.choices))
                case Operation.TOKENIZE | Operation.COUNT:
                    return _continue_tokenize(body, replica)
                case Operation.DETOKENIZE:
                    return msgspec.json.encode({"prompt": msgspec.json.decode(body)["content"]})
                case Operation.EMBEDDING:
                    _check_dimensions(request.dimensions, body)
                    return body
                case Operation.RERANK:
                    return body
                case _:
                    raise AssertionError("`call` refuses it")
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            raise EngineGarbage("The engine's answer has not the promised form.") from error

    def stream_edit(self, request: Request) -> EventEdit | None:
        """A conversation with one answer and no log probabilities streams just as OpenAI's does."""
        if request.operation is Operation.CHAT and request.choices == 1 and not request.has_logprobs:
            return None
        return LlamaCppStream(request.operation, request.choices)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        try:
            error = _decode_context_error(body).error
        except (ValueError, RecursionError):
            error = _ContextError()
        if error.type == TOO_LONG:
            message = (
                f"The prompt has {error.n_prompt_tokens} tokens; the context of this model is {error.n_ctx} tokens."
            )
            return context_exceeded(request, message if error.n_ctx else error.message)
        if status == 503:
            return EngineUnavailable("The engine is loading its model.", retry_after_s=2)
        message, code, param = read_error(body)
        if message.startswith(CALLERS_MISTAKES):
            return refused(400, message, code, param)
        return super().refusal(request, status, body)

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        """It goes on with a last message of the assistant's by itself, unless started not to; these words settle it.

        A whole answer would repeat what was said; a stream, which is all we ask for, does not.
        """
        if request.operation is Operation.CHAT:
            return continue_chat(request, delivered_text, GO_ON)
        return continue_text(request, delivered_text, tokens_default=None)

    def is_ready(self, status: int, body: bytes) -> bool:
        """503 while it loads its model."""
        return status == 200

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        return read_slots(pages[0]) if pages[0].lstrip()[:1] in (b"[", b"{") else read_metrics(pages[0])


def _begin_tokenize(body: bytes, replica: Replica) -> EngineRequest:
    """A conversation goes through the chat template first, a plain prompt does not."""
    asked = msgspec.json.decode(body)
    if asked.get("messages") is not None:
        return EngineRequest(replica.base_path + "/apply-template", body)
    return _tokenize(replica, asked["prompt"], add_special=asked.get("add_special_tokens", True))


def _continue_tokenize(body: bytes, replica: Replica) -> bytes | EngineRequest:
    answer = msgspec.json.decode(body)
    if "tokens" not in answer:
        return _tokenize(replica, answer["prompt"], add_special=False)
    tokens = answer["tokens"]
    return msgspec.json.encode({"count": len(tokens), "max_model_len": replica.context_tokens, "tokens": tokens})


def _tokenize(replica: Replica, text: str, *, add_special: bool) -> EngineRequest:
    body = {"content": text, "add_special": add_special, "parse_special": True}
    return EngineRequest(replica.base_path + "/tokenize", msgspec.json.encode(body))


def _check_dimensions(wanted: int | None, body: bytes) -> None:
    """llama.cpp ignores the wish for shorter vectors; a vector of another length is no answer to it."""
    if wanted is None:
        return
    vector = msgspec.json.decode(body)["data"][0]["embedding"]
    has = len(b64decode(vector)) // FLOAT_BYTES if isinstance(vector, str) else len(vector)
    if wanted != has:
        raise InvalidField(f"dimensions: this model's vectors have {has}, and cannot be cut.", param="dimensions")
