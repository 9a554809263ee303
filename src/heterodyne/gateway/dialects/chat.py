"""POST /v1/chat/completions."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.domain.request import Operation, Request
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.generation import Count, GenerationFields, check_bounds
from heterodyne.gateway.dialects.prompts import Conversation
from heterodyne.gateway.settings import GatewaySettings

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class Part(Struct):
    """One part of a multi-part message; what is not text goes to the engine unread."""

    type: str
    text: str = ""


class Function(Struct):
    """A function's name and, unread, its parameters."""

    name: str
    parameters: dict[str, Raw] | None = None


class FunctionCall(Struct):
    """What an assistant message says it called."""

    name: str
    arguments: str


class ToolCall(Struct):
    """One call in an assistant message."""

    id: str
    type: str
    function: FunctionCall | None = None


class Message(Struct):
    """One message of the conversation."""

    role: Role
    content: str | list[Part] | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None


class Tool(Struct):
    """One tool the model may call."""

    type: str
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
    tool_choice: str | dict[str, Raw] | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None


_decoder = msgspec.json.Decoder(ChatFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    output_tokens_max = fields.max_completion_tokens or fields.max_tokens
    check_bounds(fields, settings, output_tokens_max)
    return Request(
        id=request_id,
        operation=Operation.CHAT,
        model=fields.model,
        body=body,
        stream=bool(fields.stream),
        wants_usage=fields.wants_usage(),
        has_stream_options=fields.stream_options is not msgspec.UNSET,
        prompt=Conversation(body),
        prompt_chars=_chars(fields.messages),
        user=fields.user or "",
        output_tokens_max=output_tokens_max,
        choices=fields.n or 1,
        deadline_s=deadline_s,
    )


def _chars(messages: list[Message]) -> int:
    chars = 0
    for message in messages:
        content = message.content
        if isinstance(content, str):
            chars += len(content)
        elif content is not None:
            chars += sum(len(part.text) for part in content)
    return chars
