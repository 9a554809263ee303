"""Anthropic's Messages API, hosted: by itself, or under the same words by Amazon's Bedrock and Microsoft's Foundry."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.anthropic.answer import chat_answer
from heterodyne.engines.anthropic.request import messages_body
from heterodyne.engines.anthropic.stream import ClaudeStream
from heterodyne.engines.error_answer import MESSAGE_CHARS_MAX, read_error
from heterodyne.engines.hosted.dialect import HostedDialect, counted, no_account
from heterodyne.engines.told_limits import anthropic_limits
from heterodyne.ports.engine import EventEdit
from heterodyne.ports.engine_request import EngineRequest

VERSION_LINE = b"anthropic-version: 2023-06-01\r\n"
BILLING = "billing_error"
NO_CREDIT = "credit balance is too low"  # in a refusal of 400


class _Error(Struct):
    type: str = ""
    message: str = ""


class _ErrorAnswer(Struct):
    error: _Error


class _Count(Struct):
    input_tokens: int


_decode_count = msgspec.json.Decoder(_Count).decode
_decode_error = msgspec.json.Decoder(_ErrorAnswer).decode


class AnthropicDialect(HostedDialect):
    """One message at a time, whole or as events."""

    name = "anthropic"
    health_path = "/v1/models"
    client_fields: frozenset[str] = client_fields.ANTHROPIC
    operations = frozenset({Operation.CHAT, Operation.COUNT})
    context_words = ("prompt is too long", "exceed context limit")

    def header_lines(self, key: str) -> bytes:
        return (f"x-api-key: {key}\r\n".encode() if key else b"") + VERSION_LINE

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        self._check(request)
        body, not_carried = messages_body(request, replica)
        path = replica.base_path + "/v1/messages"
        if request.operation is Operation.COUNT:
            path += "/count_tokens"
        return EngineRequest(path, body, not_carried)

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        try:
            if request.operation is Operation.COUNT:
                return counted(_decode_count(body).input_tokens)
            return chat_answer(body, int(self._wall_clock()))
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The provider's answer has not the promised form.") from error

    def stream_edit(self, request: Request) -> EventEdit | None:
        return ClaudeStream(int(self._wall_clock()))

    def limits(self, status: int, headers: Mapping[bytes, bytes]) -> ToldLimits | None:
        return anthropic_limits(headers)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        try:
            error = _decode_error(body).error
        except (ValueError, RecursionError):
            error = _Error(message=read_error(body).message)
        message = error.message[:MESSAGE_CHARS_MAX]
        if error.type == BILLING or (status == 400 and NO_CREDIT in message):
            return no_account("its credit")
        return self._told(request, status, message)
