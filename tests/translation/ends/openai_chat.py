"""OpenAI's chat, as an engine reads and says it."""

import json

import msgspec

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.translation.drawing import Drawing
from tests.translation.meant import Asked, Called, Json, Part, Said, Tool, Turn, Wanted, result_of


class ChatEnd:
    """By any path."""

    def __init__(self, path: str = "/v1/chat/completions") -> None:
        self._path = path

    def path(self, *, stream: bool) -> str:
        return self._path

    def asked_of(self, body: bytes) -> Asked:
        return asked_of(body)

    def saying(self, said: Said, drawing: Drawing) -> Behaviour:
        return _saying(said, drawing)

    def talking(self) -> Behaviour:
        return behaviours.stream(100_000, delay_s=0.01)

    def breaking(self) -> Behaviour:
        return behaviours.stream_then(tokens=2, then="reset")

    def refusing(self, status: int, message: str) -> Behaviour:
        return behaviours.refuse(status, message)


def asked_of(body: bytes) -> Asked:
    """The meaning of the chat that the engine got."""
    chat = json.loads(body)
    system = [one["content"] for one in chat["messages"] if one["role"] in ("system", "developer")]
    turns = [_turn(one) for one in chat["messages"] if one["role"] not in ("system", "developer")]
    schema = (chat.get("response_format") or {}).get("json_schema")
    stops = chat.get("stop") or ()
    return Asked(
        turns=tuple(turns),
        system="\n".join(map(_text, system)),
        max_tokens=chat.get("max_completion_tokens") or chat.get("max_tokens") or 0,
        tools=tuple(_tool(one["function"]) for one in chat.get("tools") or ()),
        choice=_choice(chat.get("tool_choice")),
        wanted=Wanted(schema=schema["schema"], description=schema.get("description") or "") if schema else None,
        stops=(stops,) if isinstance(stops, str) else tuple(stops),
        effort=chat.get("reasoning_effort") or "",
    )


def _turn(message: Json) -> Turn:
    content = message.get("content")
    if message["role"] == "tool":
        parts = (Part(text=result_of(_text(content))),)
        return Turn(role="tool", parts=parts, call_id=message["tool_call_id"])
    calls = tuple(
        Called(id=one["id"], name=one["function"]["name"], arguments=json.loads(one["function"]["arguments"]))
        for one in message.get("tool_calls") or ()
    )
    thoughts = message.get("reasoning_content") or ""
    return Turn(role=message["role"], parts=_parts(content), thoughts=thoughts, calls=calls)


def _parts(content: str | list[Json] | None) -> tuple[Part, ...]:
    if not isinstance(content, list):
        return (Part(text=content),) if content else ()
    return tuple(
        Part(text=one["text"]) if one["type"] == "text" else Part(picture=one["image_url"]["url"]) for one in content
    )


def _text(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "".join(one["text"] for one in content)


def _tool(function: Json) -> Tool:
    return Tool(
        name=function["name"],
        description=function.get("description") or "",
        schema=function["parameters"],
        is_strict=function.get("strict"),
    )


def _choice(choice: str | Json | None) -> str:
    if isinstance(choice, dict):
        return str(choice["function"]["name"])
    return "" if choice in (None, "auto") else str(choice)


def _saying(said: Said, drawing: Drawing) -> Behaviour:
    async def behave(call: EngineCall) -> None:
        if not call.json.get("stream"):
            call.whole(200, whole(said, drawing))
            return
        call.head(200, *behaviours.EVENT_STREAM)
        for event in events(said, drawing):
            call.event(event)
        call.write(b"0\r\n\r\n")

    return behave


def whole(said: Said, drawing: Drawing) -> Json:
    """A whole answer."""
    choice = {"index": 0, "message": _message(said, drawing), **_ending(said)}
    return behaviours.chat_answer() | {"choices": [choice], "usage": _usage(said)}


def events(said: Said, drawing: Drawing) -> list[bytes]:
    """The data of a stream's events, its texts in pieces."""
    choices: list[Json] = [{"index": 0, "delta": delta} for delta in _deltas(said, drawing)]
    choices.append({"index": 0, "delta": {}, **_ending(said)})
    chunks = [behaviours.chat_event(None) | {"choices": [choice]} for choice in choices]
    chunks.append(behaviours.chat_event(None) | {"choices": [], "usage": _usage(said)})
    return [*map(msgspec.json.encode, chunks), b"[DONE]"]


def _ending(said: Said) -> Json:
    stop = {} if said.stop_text is None else {"stop_reason": said.stop_text}
    return {"finish_reason": said.finish, **stop}


def _usage(said: Said) -> Json:
    return {
        **behaviours.usage(said.prompt_tokens, said.completion_tokens),
        "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
    }


def _message(said: Said, drawing: Drawing) -> Json:
    message: Json = {"role": "assistant", "content": said.text or None}
    if said.thoughts:
        message["reasoning_content"] = said.thoughts
    if said.calls:
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": drawing.json(one.arguments)}}
            for one in said.calls
        ]
    return message


def _deltas(said: Said, drawing: Drawing) -> list[Json]:
    found: list[Json] = [{"role": "assistant", "content": ""}]
    found += [{"reasoning_content": piece} for piece in drawing.pieces(said.thoughts)]
    found += [{"content": piece} for piece in drawing.pieces(said.text)]
    for place, one in enumerate(said.calls):
        function = {"name": one.name, "arguments": ""}
        found.append({"tool_calls": [{"index": place, "id": one.id, "type": "function", "function": function}]})
        found += [
            {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}
            for piece in drawing.pieces(drawing.json(one.arguments))
        ]
    return found
