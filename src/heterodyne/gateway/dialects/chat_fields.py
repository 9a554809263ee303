"""The typed fields of POST /v1/chat/completions."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.gateway.dialects.body import Name, Word
from heterodyne.gateway.dialects.generation_fields import Count, GenerationFields
from heterodyne.gateway.dialects.parts import Part

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class Function(Struct):
    """A function's name and, unread, its parameters."""

    name: Name
    parameters: dict[str, Raw] | None = None


class FunctionCall(Struct):
    """What an assistant message says it called."""

    name: Name
    arguments: str


class ToolCall(Struct):
    """One call in an assistant message."""

    id: Name
    type: Word
    function: FunctionCall | None = None


class Message(Struct):
    """One message of the conversation."""

    role: Role
    content: str | list[Part] | None = None
    name: Name | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: Name | None = None


class Tool(Struct):
    """One tool the model may call."""

    type: Word
    function: Function | None = None


class ResponseFormat(Struct):
    """Text, any JSON, or JSON of a schema."""

    type: Literal["text", "json_object", "json_schema", "grammar", "structural_tag"]
    json_schema: dict[str, Raw] | None = None


class ChatFields(GenerationFields, kw_only=True):
    """The typed fields of a chat completion."""

    messages: Annotated[list[Message], Meta(min_length=1)]
    max_completion_tokens: Count | None = None
    tools: list[Tool] | None = None
    tool_choice: Name | dict[str, Raw] | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    store: bool | None = None


decoder = msgspec.json.Decoder(ChatFields)
