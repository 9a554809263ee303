"""What a conversation means, whichever API says it: asked by a client, and said by a model.

Each client of this folder tells an `Asked` in its own API's words and reads a `Said` out of its own answers. The
engine at the end of a chain reads and says OpenAI's chat, so that both ends can be compared.
"""

import json
from typing import Any

import msgspec
from msgspec import Struct

Json = dict[str, Any]

NOT_CARRIED = "x-heterodyne-not-carried"


class Called(Struct, frozen=True, kw_only=True):
    """One call of a tool."""

    id: str
    name: str
    arguments: Json


class Part(Struct, frozen=True, kw_only=True):
    """A text, or the address of a picture."""

    text: str | None = None
    picture: str | None = None


class Turn(Struct, frozen=True, kw_only=True):
    """What the user shows, what the model said, or what a tool gave back to a call."""

    role: str
    parts: tuple[Part, ...] = ()
    thoughts: str = ""
    calls: tuple[Called, ...] = ()
    call_id: str = ""
    tool: str = ""  # of a result: what was called, which Gemini's clients say again

    @property
    def text(self) -> str:
        return "".join(part.text or "" for part in self.parts)


class Tool(Struct, frozen=True, kw_only=True):
    """What the model may call."""

    name: str
    description: str
    schema: Json
    is_strict: bool | None = None


class Wanted(Struct, frozen=True, kw_only=True):
    """The schema of the answer; Anthropic's and Gemini's APIs have no place for a description of it."""

    schema: Json
    description: str = ""


class Asked(Struct, frozen=True, kw_only=True):
    """All that a request says."""

    turns: tuple[Turn, ...]
    system: str = ""
    max_tokens: int = 64
    tools: tuple[Tool, ...] = ()
    choice: str = ""  # empty: not said; `required`, or the name of a tool
    wanted: Wanted | None = None
    stops: tuple[str, ...] = ()
    effort: str = ""


class Said(Struct, frozen=True, kw_only=True):
    """All that an answer says."""

    text: str = ""
    thoughts: str = ""
    calls: tuple[Called, ...] = ()
    finish: str = "stop"  # in OpenAI's words
    stop_text: str | None = None  # what ended it, of the stops
    prompt_tokens: int = 7
    completion_tokens: int = 9
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class Refused(Exception):
    """An error as the client's own exception told it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Broke(Exception):
    """A stream that ended in an error, which the client's own exception or event told."""


def result_of(text: str) -> str:
    """What a tool gave back. Gemini's results are objects, and by its API `output` of one is the result itself."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    if not isinstance(found, dict):
        return text
    if list(found) == ["output"] and isinstance(found["output"], str):
        return found["output"]
    return json.dumps(found, sort_keys=True)


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
