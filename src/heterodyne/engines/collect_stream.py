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
    return _collect(stream, edit, {"object": "chat.completion"}, _EMPTY_CHAT, _add_chat)


def collect_text(stream: bytes, edit: EventEdit) -> bytes:
    """A text completion from its edited chunks."""
    return _collect(stream, edit, {"object": "text_completion"}, {"text": ""}, _add_text)


_EMPTY_CHAT = {"message": {"role": "assistant", "content": None, "refusal": None}}


def _collect(stream: bytes, edit: EventEdit, answer: Json, empty: Json, add: Add) -> bytes:
    choices: dict[int, Json] = {}
    is_done = False
    for data in _edited(stream, edit):
        if data == b"[DONE]":
            is_done = True
            continue
        chunk = _decode(data)
        for name in TOP_LEVEL:
            if name in chunk:
                answer.setdefault(name, chunk[name])
        if chunk.get("usage"):
            answer["usage"] = chunk["usage"]
        for part in chunk.get("choices") or ():
            index = part["index"]
            if index not in choices:
                choices[index] = {"index": index, "logprobs": None, "finish_reason": None, **deepcopy(empty)}
            _add_common(choices[index], part)
            add(choices[index], part)
    if not is_done:
        raise EngineBroke("The engine ended its stream before the answer was complete.")
    answer["choices"] = [choices[index] for index in sorted(choices)]
    return msgspec.json.encode(answer)


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
        elif name == "role":
            message["role"] = piece
        elif isinstance(piece, str):  # content, and whatever an engine calls its reasoning
            message[name] = (message.get(name) or "") + piece


def _add_tool_calls(calls: list[Json], pieces: list[Json]) -> None:
    """Calls come in order; the first piece of one has its id and name, the others more of its arguments."""
    for piece in pieces:
        while len(calls) <= piece["index"]:
            calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call, function = calls[piece["index"]], piece.get("function") or {}
        call["id"] = piece.get("id") or call["id"]
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""
