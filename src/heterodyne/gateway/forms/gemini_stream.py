"""Gemini's event stream out of OpenAI's: each event an answer with what came since; calls come whole."""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.chat_answer import SaidCall, SaidChoice, arguments_of, plain_text_of, read_chat
from heterodyne.gateway.forms.gemini_words import answer_of, call_part, candidate, error_of
from heterodyne.gateway.forms.plain_text import PlainText
from heterodyne.gateway.usage_fields import ReportedUsage

Json = dict[str, Any]
Place = tuple[int, int]  # of a call: which answer's, and which of its calls

DONE: Final = b"[DONE]"
MARK: Final = "\0"  # in no name
MARKED: Final = b"\\u0000"
_encode = msgspec.json.Encoder().encode
CUT_OFF: Final = "content_filter"


class GeminiStream:
    """One answer, or several side by side."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._calls: dict[Place, SaidCall] = {}  # as far as they have come
        self._last: dict[int, SaidChoice] = {}  # by answer, the event that said why it ended
        self._usage: ReportedUsage | None = None
        self.plain_text = PlainText(b"content")
        self._head = self._tail = self._between = b""  # around the text of an event, and between those of two

    def events(self, event: bytes) -> bytes:
        if not event.startswith(b"data:"):
            return event + b"\n\n"  # a comment that keeps the connection open
        data = event[5:].strip()
        if data == DONE:
            return self._event([self._ended(index) for index in sorted(self._last)], self._usage)
        said = read_chat(data)
        self._usage = said.usage or self._usage
        told = [one for choice in said.choices for one in self._grown(choice)]
        text = plain_text_of(said)
        self.plain_text.learn(data, text)
        if text:
            self._prepare(said.choices[0].index)
        return self._event(told, None) if told else b""

    def told(self, texts: list[bytes]) -> bytes:
        return b"".join((self._head, self._between.join(texts), self._tail))

    def error_event(self, error: HeterodyneError) -> bytes:
        return b"data: %b\n\n" % _encode(error_of(error))

    def _event(self, candidates: list[Json], usage: ReportedUsage | None) -> bytes:
        return b"data: %b\n\n" % _encode(answer_of(self._request, candidates, usage))

    def _prepare(self, index: int) -> None:
        """For events that only add text to this answer."""
        whole = self._event([candidate(index, [{"text": MARK}], None)], None)
        self._head, _, self._tail = whole.partition(MARKED)
        self._between = self._tail + self._head

    def _grown(self, choice: SaidChoice) -> list[Json]:
        """What came since; why it ended is told with what was used, at the end."""
        if choice.finish_reason is not None:
            self._last[choice.index] = choice
        delta = choice.delta
        if delta is None:
            return []
        parts: list[Json] = []
        if delta.thoughts:
            parts.append({"text": delta.thoughts, "thought": True})
        text = delta.content or delta.refusal
        if text:
            parts.append({"text": text})
        for call in delta.tool_calls or ():
            self._gather((choice.index, call.index), call)
        return [candidate(choice.index, parts, None)] if parts else []

    def _gather(self, place: Place, call: SaidCall) -> None:
        known = self._calls.setdefault(place, SaidCall())
        known.id = known.id or call.id
        known.function.name = (known.function.name or "") + (call.function.name or "")
        known.function.arguments = (known.function.arguments or "") + (call.function.arguments or "")

    def _ended(self, index: int) -> Json:
        last = self._last[index]
        calls = [self._calls[place] for place in sorted(self._calls) if place[0] == index]
        if last.finish_reason == CUT_OFF:
            calls = [call for call in calls if _is_whole(call)]
        return candidate(index, [call_part(call.function, call.id or "") for call in calls], last)


def _is_whole(call: SaidCall) -> bool:
    """Whether an answer that was cut off, by a policy or by its maker, has this call: else nobody may make it."""
    if not call.function.arguments:
        return False
    try:
        arguments_of(call.function)
    except EngineGarbage:
        return False
    return True
