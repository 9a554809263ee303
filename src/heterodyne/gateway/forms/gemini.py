"""Gemini's API: its answers, its event stream and its errors."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.chat_answer import SaidChoice, SaidMessage, read_chat, tokens_counted
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.gemini_stream import GeminiStream
from heterodyne.gateway.forms.gemini_words import answer_of, call_part, candidate, error_of

Json = dict[str, Any]


class SaidVector(Struct):
    """One of an answer."""

    embedding: list[float]


class SaidVectors(Struct):
    """What OpenAI's embeddings are read for."""

    data: list[SaidVector]


_encode = msgspec.json.Encoder().encode
_decode_vectors = msgspec.json.Decoder(SaidVectors).decode


def error_body(error: HeterodyneError) -> bytes:
    """An error as its clients expect it."""
    return _encode(error_of(error))


def whole(request: Request, answer: bytes) -> bytes:
    """Words, how many tokens a prompt has, or vectors."""
    if request.operation is Operation.COUNT:
        return _encode({"totalTokens": tokens_counted(answer)})
    if request.operation is Operation.EMBEDDING:
        vectors = _vectors(answer)
        if len(vectors) != 1:
            raise EngineGarbage("The engine's answer has not one vector.")
        return _encode({"embedding": vectors[0]})
    said = read_chat(answer)
    candidates = [_candidate(choice, choice.message) for choice in said.choices if choice.message is not None]
    if not candidates:
        raise EngineGarbage("The engine's answer has no message.")
    return _encode(answer_of(request, candidates, said.usage))


def whole_batch(_: Request, answer: bytes) -> bytes:
    """Vectors, as many as were asked for."""
    return _encode({"embeddings": _vectors(answer)})


GEMINI: Final = ClientForm(error_body, whole=whole, stream=GeminiStream)
GEMINI_BATCH: Final = ClientForm(error_body, whole=whole_batch)


def _vectors(answer: bytes) -> list[Json]:
    try:
        return [{"values": one.embedding} for one in _decode_vectors(answer).data]
    except msgspec.DecodeError as error:
        raise EngineGarbage("The engine's answer has no vectors.") from error


def _candidate(choice: SaidChoice, message: SaidMessage) -> Json:
    parts: list[Json] = []
    if message.thoughts:
        parts.append({"text": message.thoughts, "thought": True})
    text = message.content or message.refusal
    if text:
        parts.append({"text": text})
    parts += [call_part(call.function, call.id or "") for call in message.tool_calls or ()]
    return candidate(choice.index, parts, choice)
