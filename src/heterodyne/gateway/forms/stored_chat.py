"""Chat completions that are kept: they pass as they are, under ids that nobody can guess."""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.engines.collect_stream import collect_chat
from heterodyne.engines.json_edit import put
from heterodyne.gateway import render
from heterodyne.gateway.forms.kept import KeptObject
from heterodyne.gateway.forms.plain_text import PlainText
from heterodyne.gateway.forms.responses_words import new_id

KIND: Final = "chat.completion"
DONE: Final = b"data: [DONE]"

_encode = msgspec.json.Encoder().encode


class KeptChatFields(Struct):
    """What of its request a completion keeps."""

    messages: list[Raw] = []
    metadata: dict[str, str] | None = None


_decode_asked = msgspec.json.Decoder(KeptChatFields).decode


class KeptChat:
    """One that is complete."""

    def __init__(self, request: Request, completion_id: str, completion: bytes) -> None:
        self._request = request
        self._id = completion_id
        self._completion = completion

    def response(self, *, is_kept: bool) -> bytes:
        """As its client gets it, who is not told whether it is kept: the API has no word for it."""
        return self._completion

    def kept(self) -> KeptObject:
        asked = _decode_asked(self._request.received_body)
        completion: dict[str, Any] = msgspec.json.decode(self._completion)
        completion |= {"metadata": asked.metadata or {}, "model": self._request.model}
        for choice in completion.get("choices") or ():
            choice.setdefault("logprobs", None)  # clients expect both, and not every engine says them
            choice.get("message", {}).setdefault("refusal", None)
        body = _encode({"completion": completion, "messages": asked.messages})
        return KeptObject(kind=KIND, id=self._id, body=body)


def kept_whole(request: Request, answer: bytes) -> KeptChat:
    """A whole one."""
    completion_id = new_id("chatcmpl")
    return KeptChat(request, completion_id, _named(answer, completion_id))


class StoredChatStream:
    """One that comes in pieces."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._id = new_id("chatcmpl")
        self._events: list[bytes] = []
        self.plain_text = PlainText(b"content")  # which learns nothing

    def events(self, event: bytes) -> bytes:
        if not event.startswith(b"data:"):
            return event + b"\n\n"  # a comment that keeps the connection open
        if event == DONE:
            return b""
        told = b"data: %b\n\n" % _named(event[5:].strip(), self._id)
        self._events.append(told)
        return told

    def told(self, texts: list[bytes]) -> bytes:
        raise AssertionError("each event has to be told by another id")

    def last(self, *, is_kept: bool) -> bytes:
        return DONE + b"\n\n"

    def kept(self) -> KeptChat:
        whole = collect_chat(b"".join((*self._events, DONE)), lambda data: (data,))
        return KeptChat(self._request, self._id, whole)

    def error_event(self, error: HeterodyneError) -> bytes:
        return render.error_event(error)


def _named(answer: bytes, completion_id: str) -> bytes:
    try:
        return put(answer, {"id": _encode(completion_id)})
    except msgspec.DecodeError as error:
        raise EngineGarbage("The engine's answer is no chat.") from error
