"""Ollama: OpenAI's API under `/v1` with members missing, and a context that it cuts prompts to without a word.

How long that context is (`OLLAMA_CONTEXT_LENGTH`, or `num_ctx` in a Modelfile) can be set on the server alone: its
OpenAI API has no member for it. So we read it where Ollama tells it, beside its loaded models, for the control loops
to compare with the pool's `context_tokens`; and a prompt that cannot fit by any tokenizer is refused, not cut.
"""

from collections.abc import Sequence

import msgspec

from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import CHARS_PER_TOKEN_MAX, Request
from heterodyne.engines import client_fields
from heterodyne.engines.error_answer import context_exceeded
from heterodyne.engines.old_limit import with_old_limit
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.ports.engine_request import EngineRequest


class _Loaded(msgspec.Struct):
    name: str
    context_length: int | None = None


class _Processes(msgspec.Struct):
    models: list[_Loaded] | None


_decode_processes = msgspec.json.Decoder(_Processes).decode


class OllamaDialect(OwnEngineDialect):
    """No answer is continued: its text completions go through the chat template as a user's message, and whether its
    chat leaves a last message open is up to each model's template."""

    name = "ollama"
    health_path = "/api/version"
    client_fields: frozenset[str] = client_fields.OLLAMA
    load_paths: tuple[str, ...] = ("/api/ps",)
    operations = frozenset({Operation.CHAT, Operation.COMPLETION, Operation.EMBEDDING})
    has_choices = False
    capabilities = frozenset({Capability.TOOLS, Capability.JSON_SCHEMA, Capability.VISION, Capability.EMBEDDINGS})
    context_words = ("exceeds the context length", "exceeds maximum context length", "context length exceeded")

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        context = replica.context_tokens
        if context is not None and request.prompt_chars > context * CHARS_PER_TOKEN_MAX:
            message = (
                f"The prompt has {request.prompt_chars} characters; the context of this model is {context} tokens."
            )
            raise context_exceeded(request, message)
        call = super().call(request, replica)
        call.body = with_old_limit(call.body)
        return call

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200

    def read_load(self, pages: Sequence[bytes]) -> EngineLoad:
        """It tells neither what runs nor what waits; only which models are loaded, and their context."""
        try:
            models = _decode_processes(pages[0]).models or []
        except (ValueError, RecursionError) as error:
            raise EngineGarbage(f"The list of loaded models has not the promised form: {error}.") from error
        contexts = [model.context_length for model in models if model.context_length]
        return EngineLoad(context_tokens=min(contexts, default=None))
