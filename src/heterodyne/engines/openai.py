"""Any engine that speaks the OpenAI API as it is: vLLM, SGLang, hosted providers, another Heterodyne."""

import msgspec

from heterodyne.domain.errors import ContextExceeded, EngineRefused, EngineUnavailable, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Operation, Request
from heterodyne.engines.json_edit import put, put_first
from heterodyne.ports.engine import Call, EventEdit

PATHS = {
    Operation.CHAT: "/v1/chat/completions",
    Operation.COMPLETION: "/v1/completions",
    Operation.EMBEDDING: "/v1/embeddings",
    Operation.TOKENIZE: "/tokenize",
    Operation.DETOKENIZE: "/detokenize",
}
INCLUDE_USAGE = b'{"include_usage":true}'
MESSAGE_CHARS_MAX = 1000


class _ErrorBody(msgspec.Struct):
    message: str = ""
    code: str | int | None = None
    param: str | None = None


class _ErrorAnswer(msgspec.Struct):
    error: _ErrorBody | str | None = None
    message: str | None = None
    detail: str | None = None


_decode_error = msgspec.json.Decoder(_ErrorAnswer).decode


class OpenAIDialect:
    """Bodies pass as they came; only what must change is changed."""

    name = "openai"
    health_path = "/v1/models"

    def call(self, request: Request, replica: Replica) -> Call:
        """Asks every stream for its usage, so that tokens are counted and not guessed."""
        body = request.body
        if replica.engine_model is not None and replica.engine_model != request.model:
            body = put(body, {"model": msgspec.json.encode(replica.engine_model)})
        if request.stream and not request.wants_usage:
            if request.has_stream_options:
                body = put(body, {"stream_options": INCLUDE_USAGE})
            else:
                body = put_first(body, b'"stream_options":' + INCLUDE_USAGE)
        return Call(replica.base_path + PATHS[request.operation], body)

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | Call:
        return body

    def stream_edit(self, request: Request) -> EventEdit | None:
        return None

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        message, code, param = read_error(body)
        if code == ContextExceeded.code:
            return ContextExceeded(message, param="messages" if request.operation is Operation.CHAT else "prompt")
        return refused(status, message, code, param)


def read_error(body: bytes) -> tuple[str, str | None, str | None]:
    """Message, code and param of an error answer, in whichever of the common shapes it came."""
    try:
        answer = _decode_error(body)
    except (ValueError, RecursionError):
        return "", None, None
    if isinstance(answer.error, _ErrorBody):
        code = answer.error.code
        return answer.error.message[:MESSAGE_CHARS_MAX], code if isinstance(code, str) else None, answer.error.param
    message = answer.error or answer.message or answer.detail or ""
    return message[:MESSAGE_CHARS_MAX], None, None


def refused(status: int, message: str, code: str | None = None, param: str | None = None) -> HeterodyneError:
    """An engine's refusal: the caller's own mistakes keep status and words, the engine's troubles do not."""
    if status in (401, 403):
        # Our key with the engine, not the client's key with us.
        return EngineUnavailable("The engine refuses the gateway's credentials; its operator has to look.")
    if status >= 500:
        return EngineRefused(f"The engine failed with status {status}.", status=502 if status != 503 else 503)
    return EngineRefused(message or f"The engine refused with status {status}.", status=status, code=code, param=param)
