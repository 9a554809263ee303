"""Puts an event stream together into the whole answer it stands for."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import msgspec

from heterodyne.domain.errors import EngineBroke, EngineGarbage, EngineRefused
from heterodyne.ports.engine import EventEdit

TOP_LEVEL = ("id", "created", "model", "system_fingerprint", "service_tier")
Json = dict[str, Any]
Add = Callable[[Json, Json], None]


def collect_chat(stream: bytes, edit: EventEdit) -> bytes:
    """A chat completion from its edited chunks."""
    return _collect(stream, edit, chat_collector())


def collect_text(stream: bytes, edit: EventEdit) -> bytes:
    """A text completion from its edited chunks."""
    return _collect(stream, edit, text_collector())


class StreamCollector:
    """One answer that grows with every event."""

    __slots__ = ("_add_to", "_answer", "_choices", "_empty", "is_done")

    def __init__(self, kind: str, empty: Json, add_to: Add) -> None:
        self._answer: Json = {"object": kind}
        self._choices: dict[int, Json] = {}
        self._empty = empty
        self._add_to = add_to
        self.is_done = False  # its last event has come

    def add(self, data: bytes) -> None:
        """One event; raises EngineError for one that is none, or that tells of a failure."""
        if data == b"[DONE]":
            self.is_done = True
            return
        chunk, answer, choices = _decode(data), self._answer, self._choices
        for name in TOP_LEVEL:
            if name in chunk:
                answer.setdefault(name, chunk[name])
        if chunk.get("usage"):
            answer["usage"] = chunk["usage"]
        for part in chunk.get("choices") or ():
            index = part["index"]
            if index not in choices:
                choices[index] = {"index": index, "logprobs": None, "finish_reason": None, **deepcopy(self._empty)}
            _add_common(choices[index], part)
            self._add_to(choices[index], part)

    def whole(self) -> bytes:
        """All of it; raises EngineBroke where its end has not come."""
        if not self.is_done:
            raise EngineBroke("The engine ended its stream before the answer was complete.")
        choices = self._choices
        return msgspec.json.encode({**self._answer, "choices": [choices[index] for index in sorted(choices)]})


def chat_collector() -> StreamCollector:
    """Of a chat completion."""
    empty = {"message": {"role": "assistant", "content": None, "refusal": None}}
    return StreamCollector("chat.completion", empty, _add_chat)


def text_collector() -> StreamCollector:
    """Of a text completion."""
    return StreamCollector("text_completion", {"text": ""}, _add_text)


def _collect(stream: bytes, edit: EventEdit, collector: StreamCollector) -> bytes:
    for data in _edited(stream, edit):
        collector.add(data)
    return collector.whole()


def _edited(stream: bytes, edit: EventEdit) -> Iterator[bytes]:
    for event in stream.replace(b"\r\n", b"\n").split(b"\n\n"):
        if event.startswith(b"data:"):
            yield from edit(event[5:].strip())


def _decode(data: bytes) -> Json:
    try:
        chunk = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise EngineGarbage("The engine sent an event that is not JSON.") from error
    if "error" in chunk:
        raise EngineRefused("The engine failed in the middle of the answer.", status=502)
    return chunk


def _add_common(choice: Json, part: Json) -> None:
    choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
    for name, values in (part.get("logprobs") or {}).items():
        known = choice["logprobs"] = choice["logprobs"] or {}
        known[name] = (known.get(name) or []) + values if isinstance(values, list) else known.get(name, values)


def _add_text(choice: Json, part: Json) -> None:
    choice["text"] += part.get("text") or ""


def _add_chat(choice: Json, part: Json) -> None:
    message = choice["message"]
    for name, piece in (part.get("delta") or {}).items():
        if name == "tool_calls":
            _add_tool_calls(message.setdefault("tool_calls", []), piece)
        elif name == "function_call" and isinstance(piece, dict):
            _add_texts(message.setdefault(name, {"name": "", "arguments": ""}), piece)
        elif name == "role":
            message["role"] = piece
        elif isinstance(piece, str):  # content, and whatever an engine calls its reasoning
            message[name] = (message.get(name) or "") + piece


def _add_tool_calls(calls: list[Json], pieces: list[Json]) -> None:
    """Calls come in order; the first piece of one has its id, kind and name, the others more of its arguments."""
    for piece in pieces:
        while len(calls) <= piece["index"]:
            calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call = calls[piece["index"]]
        call["id"] = piece.get("id") or call["id"]
        if "custom" in piece or piece.get("type") == "custom":
            call["type"] = "custom"
            _add_texts(call.setdefault("custom", {"name": "", "input": ""}), piece.get("custom"))
            if not any(call.get("function", {}).values()):  # what an engine said of both, guards see of both
                call.pop("function", None)
        if "function" in piece:
            _add_texts(call.setdefault("function", {"name": "", "arguments": ""}), piece["function"])


def _add_texts(said: Json, piece: Json | None) -> None:
    for member in said:
        said[member] += (piece or {}).get(member) or ""
