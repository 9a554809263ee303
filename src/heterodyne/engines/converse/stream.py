"""Converse's streams in OpenAI's chunks: blocks that grow become pieces of one answer.

An event is an object with one member, its type (`wire/amazon_events.py`).
"""

import msgspec
from msgspec import Raw

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.converse.answer import (
    ConverseCall,
    ConverseStruct,
    ConverseUsage,
    finish_of,
    native_finish,
    usage_of,
)
from heterodyne.engines.error_answer import overloaded
from heterodyne.engines.hosted.told_chat import Chunks, told_call, told_error

# What an event says where an answer would have had a status of 503 or 429.
OVERLOADED = ("throttlingException", "serviceUnavailableException", "modelNotReadyException")
ERRORS = ("Exception", "Error", "error")


class ConverseStart(ConverseStruct):
    """What a block begins with."""

    tool_use: ConverseCall | None = None


class ConverseMoreInput(ConverseStruct):
    input: str = ""


class ConverseMoreThoughts(ConverseStruct):
    text: str = ""
    signature: str = ""


class ConverseDelta(ConverseStruct):
    """What a block grows by: one of these."""

    text: str = ""
    tool_use: ConverseMoreInput | None = None
    reasoning_content: ConverseMoreThoughts | None = None


class ConverseEvent(ConverseStruct):
    """What an event of any type says."""

    content_block_index: int = 0
    start: ConverseStart | None = None
    delta: ConverseDelta | None = None
    stop_reason: str = "end_turn"
    usage: ConverseUsage | None = None
    message: str = ""


_decode = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_event = msgspec.json.Decoder(ConverseEvent).decode


class ConverseStream:
    """Edits one stream, event by event."""

    def __init__(self, id: str, model: str, created: int) -> None:
        self._chunks = Chunks(created)
        self._chunks.id, self._chunks.model = id, model
        self._calls: dict[int, int] = {}  # by block, its place among calls
        self._has_arguments = False  # of the call that is open
        self._thoughts: set[int] = set()  # blocks
        self._signature = ""

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        try:
            return tuple(one for kind, event in _decode(data).items() for one in self._edit(kind, _decode_event(event)))
        except (ValueError, RecursionError, LookupError) as error:
            raise EngineGarbage("The provider sent an event that has not the promised form.") from error

    def _edit(self, kind: str, event: ConverseEvent) -> list[bytes]:
        match kind:
            case "contentBlockStart" if event.start is not None and event.start.tool_use is not None:
                return self._start(event.content_block_index, event.start.tool_use)
            case "contentBlockDelta" if event.delta is not None:
                return self._grow(event.content_block_index, event.delta)
            case "contentBlockStop" if event.content_block_index in self._calls and not self._has_arguments:
                return self._arguments(event.content_block_index, "{}")
            case "messageStop":
                return self._finish(event.stop_reason)
            case "metadata":
                return self._chunks.end(None if event.usage is None else usage_of(event.usage))
            case _ if kind in OVERLOADED:
                raise overloaded()
            case _ if kind.endswith(ERRORS):
                return [told_error(event.message or "The provider failed.", kind)]
        return []  # that it begins, that a block of words ends, or news of something that was not asked for

    def _start(self, index: int, call: ConverseCall) -> list[bytes]:
        place = self._calls[index] = len(self._calls)
        self._has_arguments = False
        return self._chunks.piece({"tool_calls": [{"index": place, **told_call(call.tool_use_id, call.name, "")}]})

    def _grow(self, index: int, delta: ConverseDelta) -> list[bytes]:
        if delta.tool_use is not None:
            return self._arguments(index, delta.tool_use.input) if delta.tool_use.input else []
        if delta.reasoning_content is not None:
            self._thoughts.add(index)
            self._signature += delta.reasoning_content.signature
            thoughts = delta.reasoning_content.text
            return self._chunks.piece({"reasoning_content": thoughts}) if thoughts else []
        return self._chunks.piece({"content": delta.text}) if delta.text else []

    def _arguments(self, index: int, arguments: str) -> list[bytes]:
        self._has_arguments = True
        return self._chunks.piece({"tool_calls": [{"index": self._calls[index], "function": {"arguments": arguments}}]})

    def _finish(self, stop_reason: str) -> list[bytes]:
        told: list[bytes] = []
        if self._signature and len(self._thoughts) == 1:
            told = self._chunks.piece({"reasoning_signature": self._signature})
        return told + self._chunks.finish(finish_of(stop_reason), **native_finish(stop_reason))
