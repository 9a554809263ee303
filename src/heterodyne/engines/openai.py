"""Any engine that speaks the OpenAI API as it is: hosted providers, another Heterodyne, engines without a file here.

Nothing is known of such an engine but its API: it tells no load, takes no orders, and no answer is continued on it.
"""

from collections.abc import Mapping, Sequence

from heterodyne.domain.engine_load import Capability, EngineLoad, ServedModel
from heterodyne.domain.errors import EngineRefused, EngineUnavailable, HeterodyneError, InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.error_answer import CALLERS_STATUSES, context_exceeded, full, read_error, refused
from heterodyne.engines.model_list import read_model_list
from heterodyne.engines.openai_body import openai_call
from heterodyne.engines.told_limits import openai_limits
from heterodyne.ports.engine import DeliveredText, EventEdit
from heterodyne.ports.engine_control import ControlCall
from heterodyne.ports.engine_headers import Signer
from heterodyne.ports.engine_request import EngineRequest

TEXT_PATHS = {  # what engines of our own have; their files say what more
    Operation.CHAT: "/v1/chat/completions",
    Operation.COMPLETION: "/v1/completions",
    Operation.EMBEDDING: "/v1/embeddings",
    Operation.TOKENIZE: "/tokenize",
    Operation.DETOKENIZE: "/detokenize",
    Operation.COUNT: "/tokenize",
}
PATHS = TEXT_PATHS | {
    Operation.RERANK: "/v1/rerank",
    Operation.SCORE: "/v1/score",
    Operation.MODERATION: "/v1/moderations",
    Operation.SPEECH: "/v1/audio/speech",
    Operation.TRANSCRIPTION: "/v1/audio/transcriptions",
    Operation.TRANSLATION: "/v1/audio/translations",
    Operation.IMAGE: "/v1/images/generations",
    Operation.IMAGE_EDIT: "/v1/images/edits",
    Operation.IMAGE_VARIATION: "/v1/images/variations",
}
CONTEXT_CODE = "context_length_exceeded"
NO_QUOTA = "insufficient_quota"
LIMITED = b"x-ratelimit-remaining-requests", b"x-ratelimit-remaining-tokens"


class OpenAIDialect:
    """Bodies pass as they came; only what must change is changed."""

    name: str = "openai"
    health_path: str = "/v1/models"
    models_path: str | None = "/v1/models"
    load_paths: tuple[str, ...] = ()
    fallback_load_paths: tuple[str, ...] = ()
    load_port: int | None = None
    capabilities: frozenset[Capability] = frozenset(
        {Capability.TOOLS, Capability.JSON_SCHEMA, Capability.LOGPROBS, Capability.VISION, Capability.EMBEDDINGS}
    )
    tells_limits: bool = True
    client_fields: frozenset[str] = client_fields.OPENAI  # beside OpenAI's API, that tenants may send
    # What single engines lack, for their files to say.
    operations: frozenset[Operation] = frozenset(PATHS)
    salted: frozenset[Operation] = frozenset()  # calls that take a salt for their prompt's KV
    has_choices: bool = True  # False: it writes one answer however many are asked for
    context_words: tuple[str, ...] = ("maximum context length",)  # lower case; in messages of its refusals

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        """What the engine lacks is refused here."""
        self._check(request)
        is_salted = request.operation in self.salted
        return openai_call(PATHS[request.operation], request, replica, is_salted=is_salted)

    def header_lines(self, key: str) -> bytes:
        return bearer_line(key)

    def signer(self, authority: str, variable: str, environment: Mapping[str, str]) -> Signer | None:
        return None

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        return body

    def stream_edit(self, request: Request) -> EventEdit | None:
        return None

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        message, code, param = read_error(body)
        if code == CONTEXT_CODE or (status in CALLERS_STATUSES and self._is_about_context(message)):
            return context_exceeded(request, message)
        if code == NO_QUOTA:
            # A provider's word for our account with it; no client can do anything about that.
            return EngineUnavailable("The provider's quota for the gateway's key is used up; its operator has to look.")
        return refused(status, message, code, param)

    def limits(self, status: int, headers: Mapping[bytes, bytes]) -> ToldLimits | None:
        if status == 200 and LIMITED[0] not in headers and LIMITED[1] not in headers:
            return None  # as of nearly every answer
        return openai_limits(headers)

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        return None

    def is_ready(self, status: int, body: bytes) -> bool:
        """An engine that wants a key it was not given is still up."""
        return status in (200, 401, 403)

    def read_models(self, body: bytes) -> tuple[ServedModel, ...]:
        return read_model_list(body)

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        return EngineLoad()

    def load_adapter(self, name: str, source: str) -> ControlCall | None:
        return None

    def unload_adapter(self, name: str) -> ControlCall | None:
        return None

    def sleep(self) -> ControlCall | None:
        return None

    def wake(self) -> ControlCall | None:
        return None

    def _check(self, request: Request) -> None:
        if request.operation not in self.operations:
            raise EngineRefused(f"The engine of this model has no {request.operation} call.", status=501)
        if request.choices != 1 and not self.has_choices:
            raise InvalidField("n: the engine of this model writes one answer for each request.", param="n")

    def _is_about_context(self, message: str) -> bool:
        lower = message.lower()
        return any(words in lower for words in self.context_words)


def bearer_line(key: str) -> bytes:
    """The header line of most keys; empty without one."""
    return f"authorization: Bearer {key}\r\n".encode() if key else b""


class OwnEngineDialect(OpenAIDialect):
    """What engines of our own have in common: no rate limits, so busy means busy, and names that we gave."""

    tells_limits = False
    operations = frozenset(TEXT_PATHS)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        if status in (429, 503):
            return full()
        if status == 404:
            return EngineUnavailable("The engine does not know the model it was asked for; its operator has to look.")
        return super().refusal(request, status, body)
