"""Hugging Face's `transformers serve`: OpenAI's API with streams that have no end mark, and fields that it leaves out.

It names models `FOLDER@main` in its answers; clients read the name that they asked for.
"""

from typing import Any, Final

import msgspec

from heterodyne.domain.engine_load import Capability
from heterodyne.domain.errors import EngineGarbage, EngineUnavailable, HeterodyneError, InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines import client_fields
from heterodyne.engines.continuation import continue_text
from heterodyne.engines.error_answer import read_error
from heterodyne.engines.old_limit import with_old_limit
from heterodyne.engines.openai import OwnEngineDialect
from heterodyne.ports.engine import DeliveredText, EventEdit
from heterodyne.ports.engine_request import EngineRequest

DONE: Final = b"[DONE]"
MODEL: Final = b'"model":"'  # unescaped, so no part of a text
PINNED: Final = "Server is pinned to"


class TransformersDialect(OwnEngineDialect):
    """It takes the name it was started with and no other: give the pool that as `engine_model`.

    Its model list is what the machine has downloaded, and 500 where that is nothing, so it is not asked.
    """

    name = "transformers"
    health_path = "/health"
    models_path: str | None = None
    client_fields: frozenset[str] = client_fields.TRANSFORMERS
    operations = frozenset({Operation.CHAT, Operation.COMPLETION})
    has_choices = False
    capabilities = frozenset({Capability.TOOLS})

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        if request.has_logprobs:
            raise InvalidField("logprobs: the engine of this model tells none.", param="logprobs")
        call = super().call(request, replica)
        call.body = with_old_limit(call.body)
        return call

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        return _named(body, request.model)

    def stream_edit(self, request: Request) -> EventEdit | None:
        return _Stream(request.model)

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        """A name that it does not serve is no fault of the client's, who never sees it."""
        if status == 400 and read_error(body).message.startswith(PINNED):
            return EngineUnavailable("The engine serves a model of another name; its operator has to look.")
        return super().refusal(request, status, body)

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        """Its chat template always opens a new message; plain text goes on behind the prompt."""
        if request.output_tokens_max is None:
            return None
        return continue_text(request, delivered_text, tokens_default=None)

    def is_ready(self, status: int, body: bytes) -> bool:
        return status == 200


class _Stream:
    """Ends its stream as OpenAI does: the reason, the count in an event of its own, the mark."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._is_over = False

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        if self._is_over:
            return ()
        if data == DONE:
            self._is_over = True
            return (data,)
        named = _named(data, self._model)
        if named.find(b'"finish_reason":"') < 0:
            return (named,)
        self._is_over = True
        last = _event(named)
        used = last.pop("usage", None)
        if used is None:
            return (named, DONE)
        return (msgspec.json.encode(last), msgspec.json.encode({**last, "choices": [], "usage": used}), DONE)


def _event(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise EngineGarbage("The engine sent an event that is not JSON.") from error


def _named(data: bytes, model: str) -> bytes:
    """With the public name in the place of the engine's own."""
    at = data.find(MODEL)
    if at < 0:
        return data
    start = at + len(MODEL)
    end = data.find(b'"', start)
    return data if end < 0 else data[:start] + msgspec.json.encode(model)[1:-1] + data[end:]
