"""Google's Gemini API, hosted: chats and embeddings in its own words."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from heterodyne.domain.engine_load import Capability
from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.error_answer import MESSAGE_CHARS_MAX, read_error
from heterodyne.engines.gemini.answer import chat_answer
from heterodyne.engines.gemini.embeddings import embed_body, vectors_answer
from heterodyne.engines.gemini.request import generate_body
from heterodyne.engines.gemini.stream import GeneratedStream
from heterodyne.engines.hosted.dialect import HostedDialect, counted, no_account
from heterodyne.engines.json_edit import put_first
from heterodyne.engines.told_limits import no_limits
from heterodyne.ports.engine import EventEdit
from heterodyne.ports.engine_request import EngineRequest

WRONG_KEY = "api key not valid"  # in a refusal of 400
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


class _Error(Struct):
    message: str = ""
    status: str = ""
    details: list[dict[str, Any]] = []


class _ErrorAnswer(Struct):
    error: _Error


class _Count(Struct, rename="camel"):
    total_tokens: int = 0


_decode_count = msgspec.json.Decoder(_Count).decode
_decode_error = msgspec.json.Decoder(_ErrorAnswer).decode
_decode_errors = msgspec.json.Decoder(list[_ErrorAnswer]).decode


class GeminiDialect(HostedDialect):
    """The model and what is asked of it are in the path."""

    name = "gemini"
    health_path = "/v1beta/models"
    client_fields: frozenset[str] = client_fields.GEMINI
    operations = frozenset({Operation.CHAT, Operation.COUNT, Operation.EMBEDDING})
    has_choices = True
    capabilities = HostedDialect.capabilities | {Capability.EMBEDDINGS}
    context_words = ("input token count",)

    def header_lines(self, key: str) -> bytes:
        return f"x-goog-api-key: {key}\r\n".encode() if key else b""

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        self._check(request)
        model = replica.engine_model or replica.model
        path = f"{replica.base_path}/v1beta/models/{quote(model, safe='')}"
        if request.operation is Operation.EMBEDDING:
            return EngineRequest(f"{path}:batchEmbedContents", *embed_body(request, model))
        if request.operation is Operation.COUNT:
            body, not_carried = generate_body(request, model)
            asked = put_first(body, b'"model":' + msgspec.json.encode(f"models/{model}"))
            return EngineRequest(f"{path}:countTokens", b'{"generateContentRequest":%b}' % asked, not_carried)
        verb = "streamGenerateContent?alt=sse" if request.stream else "generateContent"
        return EngineRequest(f"{path}:{verb}", *generate_body(request, model))

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        try:
            if request.operation is Operation.EMBEDDING:
                return vectors_answer(request, body)
            if request.operation is Operation.COUNT:
                return counted(_decode_count(body).total_tokens)
            return chat_answer(body, int(self._wall_clock()))
        except (ValueError, RecursionError, OverflowError) as error:
            raise EngineGarbage("The provider's answer has not the promised form.") from error

    def stream_edit(self, request: Request) -> EventEdit | None:
        return GeneratedStream(request.choices, int(self._wall_clock()))

    def limits(self, status: int, headers: Mapping[bytes, bytes]) -> ToldLimits | None:
        """When to come back is in the bodies of its refusals."""
        return no_limits(headers)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        error = _read_error(body)
        message = error.message[:MESSAGE_CHARS_MAX]
        if status == 400 and WRONG_KEY in message.lower():
            return no_account("its key")
        if status == 400 and error.status == "FAILED_PRECONDITION":
            return no_account(message)
        return self._told(request, status, message, _try_retry_after_s(error))


def _read_error(body: bytes) -> _Error:
    """Streams may have it in a list."""
    try:
        found = _decode_errors(body) if body[:1] == b"[" else [_decode_error(body)]
    except (ValueError, RecursionError):
        return _Error(message=read_error(body).message)
    return found[0].error if found else _Error()


def _try_retry_after_s(error: _Error) -> int | None:
    """It says in the body when to come back, as `"34s"` or `"34.07s"`."""
    for detail in error.details:
        delay = str(detail.get("retryDelay", "")).removesuffix("s")
        if detail.get("@type") == RETRY_INFO and delay.replace(".", "", 1).isdigit():
            return int(float(delay)) + 1
    return None
