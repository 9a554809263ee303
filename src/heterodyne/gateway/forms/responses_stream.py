"""The Responses API's event stream out of a chat's: items that begin, grow and end, one after the other.

response.created, response.in_progress, (response.output_item.added, …, response.output_item.done)*, response.completed

Of one that runs in the background, response.created and response.queued have been told before. Every event has its
number. Between the marks of an item, thoughts and words have parts with marks of their own.
"""

from typing import Final

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.chat_answer import SaidCall, SaidChoice, plain_text_of, read_chat
from heterodyne.gateway.forms.plain_text import PlainText
from heterodyne.gateway.forms.responses_growing import GrowingCall, GrowingItem, GrowingText
from heterodyne.gateway.forms.responses_kept import KeptResponse
from heterodyne.gateway.forms.responses_words import (
    COMPLETED,
    IN_PROGRESS,
    INCOMPLETE,
    REASONS,
    ResponseWords,
    encode,
    error_of,
    used,
)
from heterodyne.gateway.usage_fields import ReportedUsage

DONE: Final = b"[DONE]"
FAILED: Final = "failed"
BEGUN_EVENTS: Final = 2  # of a response that runs in the background, before it is asked for


class ResponsesStream:
    """One answer."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._words = ResponseWords(request.received_body, request.stored_id)
        self._number = BEGUN_EVENTS if request.stored_id else 0  # of the next event
        self._output: list[bytes] = []  # items that are complete
        self._item: GrowingItem | None = None  # the one that is not
        self._has_begun = False
        self._reason = ""  # why it is incomplete
        self._usage: ReportedUsage | None = None
        self.plain_text = PlainText(b"content")

    def events(self, event: bytes) -> bytes:
        if not event.startswith(b"data:"):
            return event + b"\n\n"  # a comment that keeps the connection open
        data = event[5:].strip()
        if data == DONE:
            told = b"".join(self._begun() + self._said_nothing() + self._close())
            return told if self._request.is_stored else told + self.last(is_kept=False)
        said = read_chat(data)
        self._usage = said.usage or self._usage
        told_now = self._begun()
        for choice in said.choices:
            told_now += self._grow(choice)
        self.plain_text.learn(data, plain_text_of(said))
        return b"".join(told_now)

    def told(self, texts: list[bytes]) -> bytes:
        item, number = self._item, self._number
        assert item is not None
        self._number = number + len(texts)
        return item.deltas(texts, number)

    def kept(self) -> KeptResponse:
        """What is to be kept of it, once all of it has come."""
        return KeptResponse(
            self._request,
            self._words,
            status=INCOMPLETE if self._reason else COMPLETED,
            output=self._output,
            usage=used(self._usage),
            reason=self._reason,
        )

    def last(self, *, is_kept: bool) -> bytes:
        """The event that ends it."""
        kept = self.kept()
        return self._event(f"response.{kept.status}", b'"response":%b' % kept.response(is_kept=is_kept))

    def error_event(self, error: HeterodyneError) -> bytes:
        output = b"[%b]" % b",".join(self._output)
        response = self._words.response(FAILED, output, usage=used(self._usage), error=error_of(error), is_stored=False)
        return b"".join(self._begun()) + self._event("response.failed", b'"response":%b' % response)

    def _begun(self) -> list[bytes]:
        if self._has_begun:
            return []
        self._has_begun = True
        response = b'"response":%b' % self._words.response(IN_PROGRESS, b"[]", is_stored=self._request.is_stored)
        created = [] if self._request.stored_id else [self._event("response.created", response)]
        return [*created, self._event("response.in_progress", response)]

    def _said_nothing(self) -> list[bytes]:
        """An empty message, where nothing else has come: clients expect one."""
        if self._item is not None or self._output:
            return []
        self._item = GrowingText("message", 0, self._words)
        return self._events(self._item.begin())

    def _grow(self, choice: SaidChoice) -> list[bytes]:
        told: list[bytes] = []
        if choice.finish_reason is not None:
            self._reason = REASONS.get(choice.finish_reason, "")
        delta = choice.delta
        if delta is None:
            return told
        if delta.thoughts:
            told += self._said("reasoning", "reasoning_text", delta.thoughts, choice)
        if delta.content:
            told += self._said("message", "output_text", delta.content, choice)
        if delta.refusal:
            told += self._said("message", "refusal", delta.refusal, choice)
        for call in delta.tool_calls or ():
            told += self._called(call)
        return told

    def _said(self, kind: str, part: str, text: str, choice: SaidChoice) -> list[bytes]:
        told: list[bytes] = []
        item = self._item
        if not isinstance(item, GrowingText) or item.kind != kind:
            told = self._close()
            self._item = item = GrowingText(kind, len(self._output), self._words)
            told += self._events(item.begin())
        if item.part != part:
            told += self._events(item.begin_part(part))
        logprobs = choice.logprobs.content if choice.logprobs is not None and part == "output_text" else None
        number, self._number = self._number, self._number + 1
        told.append(item.delta(encode(text)[1:-1], number, logprobs))
        return told

    def _called(self, call: SaidCall) -> list[bytes]:
        told: list[bytes] = []
        item = self._item
        if not isinstance(item, GrowingCall) or item.index != call.index:
            told = self._close()
            self._item = item = GrowingCall(call, len(self._output), self._words)
            told += self._events(item.begin())
        if call.function.arguments:
            told += self._events(item.grow(call.function.arguments))
        return told

    def _close(self) -> list[bytes]:
        item, self._item = self._item, None
        if item is None:
            return []
        told = self._events(item.end(INCOMPLETE if self._reason else COMPLETED))
        self._output.append(item.whole)
        return told

    def _events(self, events: list[tuple[str, bytes]]) -> list[bytes]:
        return [self._event(name, members) for name, members in events]

    def _event(self, name: str, members: bytes) -> bytes:
        number, self._number = self._number, self._number + 1
        kind = name.encode()
        return b'event: %b\ndata: {"type":"%b","sequence_number":%d,%b}\n\n' % (kind, kind, number, members)
