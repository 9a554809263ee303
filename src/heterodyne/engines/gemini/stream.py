"""Gemini's event streams in OpenAI's chunks: each event is an answer with what came since; calls come whole."""

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.error_answer import overloaded
from heterodyne.engines.gemini.answer import (
    Generated,
    GeneratedAnswer,
    GeneratedUsage,
    call_of,
    decode_generated,
    finish_of,
    native_finish,
    usage_of,
)
from heterodyne.engines.hosted.told_chat import Chunks, told_error

# What an event says where an answer would have had a status of 503 or 429.
OVERLOADED = ("UNAVAILABLE", "RESOURCE_EXHAUSTED")


class GeneratedStream:
    """Edits one stream, event by event.

    Gemini's streams have no last event of their own: all answers have ended when each has said why.
    """

    def __init__(self, choices: int, created: int) -> None:
        self._chunks = Chunks(created)
        self._choices = choices
        self._calls: dict[int, int] = {}  # by answer, how many it has
        self._ended: set[int] = set()
        self._usage: GeneratedUsage | None = None

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        try:
            return tuple(self._edit(decode_generated(data)))
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The provider sent an event that has not the promised form.") from error

    def _edit(self, said: GeneratedAnswer) -> list[bytes]:
        if said.error is not None and said.error.status in OVERLOADED:
            raise overloaded()
        if said.error is not None:
            return [told_error(said.error.message or "The provider failed.", said.error.status)]
        chunks = self._chunks
        chunks.id, chunks.model = chunks.id or said.response_id, chunks.model or said.model_version
        self._usage = said.usage_metadata or self._usage
        if said.is_blocked and not self._ended:
            reason = said.prompt_feedback.block_reason
            self._ended = set(range(self._choices))
            return [*chunks.finish("content_filter", **native_finish(reason)), *self._end()]
        told: list[bytes] = []
        for one in said.candidates:
            told += self._grow(one)
        return told

    def _grow(self, said: Generated) -> list[bytes]:
        if said.index in self._ended:
            if said.content.parts:
                raise EngineGarbage("The provider went on with an answer that had ended.")
            return []
        told: list[bytes] = []
        for part in said.content.parts:
            if part.function_call is not None:
                place = self._calls.get(said.index, 0)
                self._calls[said.index] = place + 1
                id_ = f"{self._chunks.id}_{said.index}"
                call = call_of(part.function_call, part.thought_signature, id_, place)
                told += self._chunks.piece({"tool_calls": [{"index": place, **call}]}, said.index)
            elif part.text:
                name = "reasoning_content" if part.thought else "content"
                told += self._chunks.piece({name: part.text}, said.index)
        if said.finish_reason is None:
            return told
        self._ended.add(said.index)
        finish_reason = finish_of(said.finish_reason, has_calls=said.index in self._calls)
        told += self._chunks.finish(finish_reason, said.index, **native_finish(said.finish_reason))
        return told + self._end() if len(self._ended) >= self._choices else told

    def _end(self) -> list[bytes]:
        return self._chunks.end(None if self._usage is None else usage_of(self._usage))
