"""Azure OpenAI: OpenAI's bodies under paths, keys and a content filter of its own.

The paths are those of its v1 API, which needs no version. A deployment is named as a model is: `engine_model`.
"""

import msgspec
from msgspec import Struct

from heterodyne.domain.engine_load import ServedModel
from heterodyne.domain.errors import EngineGarbage, EngineUnavailable, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.error_answer import refused
from heterodyne.engines.openai import OpenAIDialect
from heterodyne.engines.openai_body import openai_call
from heterodyne.ports.engine_request import EngineRequest

PATHS = {
    Operation.CHAT: "/openai/v1/chat/completions",
    Operation.COMPLETION: "/openai/v1/completions",
    Operation.EMBEDDING: "/openai/v1/embeddings",
    Operation.SPEECH: "/openai/v1/audio/speech",
    Operation.TRANSCRIPTION: "/openai/v1/audio/transcriptions",
    Operation.TRANSLATION: "/openai/v1/audio/translations",
    Operation.IMAGE: "/openai/v1/images/generations",
    Operation.IMAGE_EDIT: "/openai/v1/images/edits",
}
FILTERED = "content_filter"
NO_DEPLOYMENT = ("DeploymentNotFound", "model_not_found")


class _Filtered(Struct):
    filtered: bool = False


class _Inner(Struct):
    content_filter_result: dict[str, _Filtered] = {}


class _Error(Struct):
    message: str = ""
    code: str | None = None
    param: str | None = None
    innererror: _Inner | None = None


class _ErrorAnswer(Struct):
    error: _Error


_decode = msgspec.json.Decoder(_ErrorAnswer).decode


class AzureOpenAIDialect(OpenAIDialect):
    """Its model list has what may be deployed and not what is, so the pool's model is believed.

    A stream begins with an event about the prompt that has no choices; it passes, as OpenAI's usage event does.
    """

    name = "azure-openai"
    health_path = "/openai/v1/models"
    client_fields: frozenset[str] = client_fields.AZURE_OPENAI
    models_path: str | None = None
    operations = frozenset(PATHS)

    def header_lines(self, key: str) -> bytes:
        return f"api-key: {key}\r\n".encode() if key else b""

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        self._check(request)
        return openai_call(PATHS[request.operation], request, replica)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        """What the filter holds back is the caller's to change, and it is told by what."""
        try:
            error = _decode(body).error
        except (ValueError, RecursionError):
            error = _Error()
        if status == 400 and error.code == FILTERED:
            return refused(status, _with_reasons(error), FILTERED, error.param)
        if status == 404 or error.code in NO_DEPLOYMENT:
            return EngineUnavailable("The provider has no such deployment; its operator has to look.")
        return super().refusal(request, status, body)

    def read_models(self, body: bytes) -> tuple[ServedModel, ...]:
        raise EngineGarbage("The provider lists what may be deployed, and not what is.")


def _with_reasons(error: _Error) -> str:
    found = error.innererror.content_filter_result if error.innererror is not None else {}
    reasons = sorted(name for name, one in found.items() if one.filtered)
    message = error.message or "The prompt was held back by the provider's content filter."
    return f"{message} ({', '.join(reasons)})" if reasons else message
