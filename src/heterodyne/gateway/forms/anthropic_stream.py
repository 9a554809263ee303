"""Anthropic's event stream out of OpenAI's: blocks that begin, grow and end, one after the other.

message_start, (content_block_start, content_block_delta+, content_block_stop)*, message_delta, message_stop
"""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.anthropic_words import error_of, message_id, stop_of, used
from heterodyne.gateway.forms.chat_answer import SaidCall, SaidChoice, plain_text_of, read_chat
from heterodyne.gateway.forms.plain_text import PlainText
from heterodyne.gateway.usage_fields import ReportedUsage

Json = dict[str, Any]

DONE: Final = b"[DONE]"
NO_CALL: Final = -1
TEXT_HEAD: Final = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":"'
)
TEXT_TAIL: Final = b'"}}\n\n'
_encode = msgspec.json.Encoder().encode


class AnthropicStream:
    """One answer."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._has_begun = False
        self._block = ""  # the type of the block that is open
        self._call = NO_CALL  # of a block that is a call, its place among calls
        self._number = 0  # of the block
        self._last: SaidChoice | None = None  # the event that said why it ended
        self._usage: ReportedUsage | None = None
        self._text_head = self._text_between = b""  # before the text of an event, and between those of two
        self.plain_text = PlainText(b"content")

    def events(self, event: bytes) -> bytes:
        if not event.startswith(b"data:"):
            return event + b"\n\n"  # a comment that keeps the connection open
        data = event[5:].strip()
        if data == DONE:
            return b"".join(self._end())
        said = read_chat(data)
        self._usage = said.usage or self._usage
        told = [] if self._has_begun else [self._begin()]
        for choice in said.choices:
            told += self._grow(choice)
        self.plain_text.learn(data, plain_text_of(said))
        return b"".join(told)

    def told(self, texts: list[bytes]) -> bytes:
        return b"".join((self._text_head, self._text_between.join(texts), TEXT_TAIL))

    def error_event(self, error: HeterodyneError) -> bytes:
        return _event("error", error_of(error))

    def _begin(self) -> bytes:
        self._has_begun = True
        message: Json = {
            "id": message_id(self._request),
            "type": "message",
            "role": "assistant",
            "model": self._request.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": used(None),
        }
        return _event("message_start", {"type": "message_start", "message": message})

    def _grow(self, choice: SaidChoice) -> list[bytes]:
        told: list[bytes] = []
        delta = choice.delta
        if delta is not None:
            if delta.thoughts:
                told += self._open("thinking", {"type": "thinking", "thinking": "", "signature": ""})
                told.append(self._delta({"type": "thinking_delta", "thinking": delta.thoughts}))
            text = delta.content or delta.refusal
            if text:
                told += self._open("text", {"type": "text", "text": ""})
                told.append(self._delta({"type": "text_delta", "text": text}))
            for call in delta.tool_calls or ():
                told += self._called(call)
        if choice.finish_reason is not None:
            self._last = choice
        return told

    def _called(self, call: SaidCall) -> list[bytes]:
        told: list[bytes] = []
        if self._block != "tool_use" or self._call != call.index:
            block = {"type": "tool_use", "id": call.id or "", "name": call.function.name or "", "input": {}}
            told = [*self._close(), self._start("tool_use", block)]
            self._call = call.index
        if call.function.arguments:
            told.append(self._delta({"type": "input_json_delta", "partial_json": call.function.arguments}))
        return told

    def _open(self, kind: str, block: Json) -> list[bytes]:
        """A block of this type is open; what another has begun ends before."""
        return [] if self._block == kind else [*self._close(), self._start(kind, block)]

    def _start(self, kind: str, block: Json) -> bytes:
        self._block = kind
        self._text_head = TEXT_HEAD % self._number
        self._text_between = TEXT_TAIL + self._text_head
        return _event(
            "content_block_start", {"type": "content_block_start", "index": self._number, "content_block": block}
        )

    def _delta(self, delta: Json) -> bytes:
        return _event("content_block_delta", {"type": "content_block_delta", "index": self._number, "delta": delta})

    def _close(self) -> list[bytes]:
        if not self._block:
            return []
        told = _event("content_block_stop", {"type": "content_block_stop", "index": self._number})
        self._block, self._call = "", NO_CALL
        self._number += 1
        return [told]

    def _end(self) -> list[bytes]:
        begun = [] if self._has_begun else [self._begin()]
        delta = stop_of(self._last or SaidChoice())
        return [
            *begun,
            *self._close(),
            _event("message_delta", {"type": "message_delta", "delta": delta, "usage": used(self._usage)}),
            _event("message_stop", {"type": "message_stop"}),
        ]


def _event(name: str, data: Json) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), _encode(data))
