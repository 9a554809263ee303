"""What a conversation means, whichever API says it: asked by a client, and said by a model.

Each of `clients` tells an `Asked` in its own API's words and reads a `Said` out of its own answers. Each of `ends`
reads what arrives and says what it is to answer, so that both ends of a chain can be compared.
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
