"""Amazon Bedrock's Converse API, hosted: any of its models, under keys that sign requests or go with them."""

from collections.abc import Mapping
from urllib.parse import quote

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineGarbage, HeterodyneError, InvalidSpec
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.converse.answer import chat_answer
from heterodyne.engines.converse.keys import is_secret, read_keys, signer_of
from heterodyne.engines.converse.request import converse_body
from heterodyne.engines.converse.stream import ConverseStream
from heterodyne.engines.error_answer import read_error
from heterodyne.engines.hosted.dialect import HostedDialect, counted, no_account
from heterodyne.engines.openai import bearer_line
from heterodyne.engines.told_limits import no_limits
from heterodyne.ports.engine import EventEdit
from heterodyne.ports.engine_headers import Signer
from heterodyne.ports.engine_request import EngineRequest

TROUBLES = (408, 424)  # the model took too long, or failed: nothing that the caller could change
NO_QUOTA = "service quota"  # in a refusal of 400


class _Count(Struct, rename="camel"):
    input_tokens: int


_decode_count = msgspec.json.Decoder(_Count).decode


class ConverseDialect(HostedDialect):
    """The model and what is asked of it are in the path; what answers there has no page of its own health."""

    name = "bedrock-converse"
    health_path = "/"
    client_fields: frozenset[str] = client_fields.BEDROCK_CONVERSE
    operations = frozenset({Operation.CHAT, Operation.COUNT})
    context_words = ("input is too long", "prompt is too long", "exceed context limit", "maximum context length")

    def header_lines(self, key: str) -> bytes:
        return bearer_line(key)

    def signer(self, authority: str, variable: str, environment: Mapping[str, str]) -> Signer | None:
        if not is_secret(variable):
            return None
        try:
            return signer_of(read_keys(variable, authority, environment), authority, self._wall_clock)
        except InvalidSpec:
            return _unsigned  # settings are checked; of what is added later its provider says that it is not signed

    def is_ready(self, status: int, body: bytes) -> bool:
        return status < 500

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        self._check(request)
        verb = "converse-stream" if request.stream else "converse"
        if request.operation is Operation.COUNT:
            verb = "count-tokens"
        model = quote(replica.engine_model or replica.model, safe="")
        return EngineRequest(f"{replica.base_path}/model/{model}/{verb}", *converse_body(request))

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        try:
            if request.operation is Operation.COUNT:
                return counted(_decode_count(body).input_tokens)
            return chat_answer(body, _id(request), request.model, int(self._wall_clock()))
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The provider's answer has not the promised form.") from error

    def stream_edit(self, request: Request) -> EventEdit | None:
        return ConverseStream(_id(request), request.model, int(self._wall_clock()))

    def limits(self, status: int, headers: Mapping[bytes, bytes]) -> ToldLimits | None:
        return no_limits(headers)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        message = read_error(body).message
        if status == 400 and NO_QUOTA in message.lower():
            return no_account("its quota")
        return self._told(request, 500 if status in TROUBLES else status, message)


def _id(request: Request) -> str:
    """Of an answer that comes without one."""
    return f"chatcmpl-{request.id}"


def _unsigned(path: str, body: bytes) -> bytes:
    return b""
