"""Anthropic's event streams in OpenAI's chunks: blocks that begin, grow and end become pieces of one answer."""

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.anthropic.answer import (
    ClaudeBlock,
    ClaudeMessage,
    ClaudeUsage,
    finish_of,
    stop_of,
    usage_of,
)
from heterodyne.engines.error_answer import overloaded
from heterodyne.engines.hosted.told_chat import Chunks, told_call, told_error

# What an event says where an answer would have had a status of 529 or 429.
OVERLOADED = ("overloaded_error", "rate_limit_error")


class ClaudeDelta(Struct):
    """What an event adds: to a block, or to the message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None
    stop_sequence: str | None = None


class ClaudeError(Struct):
    """Why a stream ends too early."""

    type: str = ""
    message: str = ""


class ClaudeEvent(Struct):
    """One event, of any type."""

    type: str
    index: int = 0
    message: ClaudeMessage | None = None
    content_block: ClaudeBlock | None = None
    delta: ClaudeDelta | None = None
    usage: ClaudeUsage | None = None
    error: ClaudeError | None = None


_decode = msgspec.json.Decoder(ClaudeEvent).decode


class ClaudeStream:
    """Edits one stream, event by event."""

    def __init__(self, created: int) -> None:
        self._chunks = Chunks(created)
        self._usage = ClaudeUsage()
        self._calls: dict[int, int] = {}  # by block, its place among calls
        self._has_arguments = False  # of the call that is open
        self._thoughts: set[int] = set()  # blocks
        self._signature = ""

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        try:
            return tuple(self._edit(_decode(data)))
        except (ValueError, RecursionError, LookupError) as error:
            raise EngineGarbage("The provider sent an event that has not the promised form.") from error

    def _edit(self, event: ClaudeEvent) -> list[bytes]:
        match event.type:
            case "message_start" if event.message is not None:
                self._chunks.id, self._chunks.model = event.message.id, event.message.model
                self._usage = event.message.usage
            case "content_block_start" if event.content_block is not None:
                return self._start(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None:
                return self._grow(event.index, event.delta)
            case "content_block_stop" if event.index in self._calls and not self._has_arguments:
                return self._arguments(event.index, "{}")
            case "message_delta" if event.delta is not None:
                return self._finish(event.delta, event.usage)
            case "message_stop":
                return self._chunks.end(usage_of(self._usage))
            case "error":
                error = event.error or ClaudeError()
                if error.type in OVERLOADED:
                    raise overloaded()
                return [told_error(error.message or "The provider failed.", error.type)]
        return []  # a ping, or news of something that was not asked for

    def _start(self, index: int, block: ClaudeBlock) -> list[bytes]:
        """Blocks begin empty, but for the name of a call."""
        if block.type == "tool_use":
            place = self._calls[index] = len(self._calls)
            self._has_arguments = False
            return self._chunks.piece({"tool_calls": [{"index": place, **told_call(block.id, block.name, "")}]})
        if block.type == "thinking":
            self._thoughts.add(index)
            return self._chunks.piece({"reasoning_content": block.thinking}) if block.thinking else []
        return self._chunks.piece({"content": block.text}) if block.type == "text" and block.text else []

    def _grow(self, index: int, delta: ClaudeDelta) -> list[bytes]:
        match delta.type:
            case "text_delta":
                return self._chunks.piece({"content": delta.text})
            case "thinking_delta":
                return self._chunks.piece({"reasoning_content": delta.thinking})
            case "input_json_delta" if delta.partial_json:
                return self._arguments(index, delta.partial_json)
            case "signature_delta":
                self._signature += delta.signature
        return []

    def _arguments(self, index: int, arguments: str) -> list[bytes]:
        self._has_arguments = True
        return self._chunks.piece({"tool_calls": [{"index": self._calls[index], "function": {"arguments": arguments}}]})

    def _finish(self, delta: ClaudeDelta, usage: ClaudeUsage | None) -> list[bytes]:
        if usage is not None:
            self._usage = self._usage.later(usage)
        if delta.stop_reason is None:
            return []
        told: list[bytes] = []
        if self._signature and len(self._thoughts) == 1:
            told = self._chunks.piece({"reasoning_signature": self._signature})
        return told + self._chunks.finish(finish_of(delta.stop_reason), **stop_of(delta.stop_sequence))
