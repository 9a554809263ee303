"""POST /v1/chat/completions."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.domain.request import Operation, Request
from heterodyne.gateway.dialects.body import check_text, decode, decode_part
from heterodyne.gateway.dialects.generation import Count, GenerationFields, check_bounds
from heterodyne.gateway.settings import GatewaySettings

QUOTE = ord('"')
BETWEEN = b"\n"  # not inside JSON as clients send it to a machine; where it is, prefixes only end elsewhere

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


class _Fields(GenerationFields, kw_only=True):
    max_completion_tokens: Count | None = None
    tool_choice: str | dict[str, Raw] | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None


class ChatFields(_Fields, kw_only=True):
    """The typed fields of a chat completion, as the API describes them."""

    messages: Annotated[list[Message], Meta(min_length=1)]
    tools: list[Tool] | None = None


NULL = Raw(b"null")


class _Said(Struct):
    """A message as it is read: what was said stays as it was sent, for only its kind and its length matter here."""

    role: Role
    content: Raw = NULL
    name: str | None = None
    tool_calls: Raw = NULL
    tool_call_id: str | None = None


class _Read(_Fields, kw_only=True):
    messages: Annotated[list[_Said], Meta(min_length=1)]
    tools: Raw = NULL


_decoder = msgspec.json.Decoder(_Read)
_content = msgspec.json.Decoder(str | list[Part] | None)
_tool_calls = msgspec.json.Decoder(list[ToolCall] | None)
_tools = msgspec.json.Decoder(list[Tool] | None)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    check_text(body)
    output_tokens_max = fields.max_completion_tokens or fields.max_tokens
    check_bounds(fields, settings, output_tokens_max)
    if fields.tools is not NULL:
        decode_part(_tools, fields.tools, "tools")
    prompt, chars, opening_bytes = _prompt(fields)
    return Request(
        id=request_id,
        operation=Operation.CHAT,
        model=fields.model,
        body=body,
        stream=bool(fields.stream),
        wants_usage=fields.wants_usage(),
        has_stream_options=fields.stream_options is not msgspec.UNSET,
        prompt=prompt,
        prompt_chars=chars,
        opening_bytes=opening_bytes,
        user=fields.user or "",
        output_tokens_max=output_tokens_max,
        choices=fields.n or 1,
        deadline_s=deadline_s,
    )


def _prompt(fields: _Read) -> tuple[bytes, int, int]:
    """The bytes that stand for the rendered prompt, the characters of its text, and where its first question ends.

    They are made of JSON as the client sent it: that costs nothing to decode and holds whatever the engine will render.
    Tools come first, for templates render them before the conversation; a longer conversation begins with the shorter.
    """
    parts: list[bytes | Raw] = [fields.tools]
    chars = opening = size = 0
    for index, message in enumerate(fields.messages):
        content = message.content
        if memoryview(content)[0] == QUOTE:
            chars += len(content) - 2
        else:
            chars += _chars(content, index)
        parts += (message.role.encode(), content)
        if message.tool_calls is not NULL:
            decode_part(_tool_calls, message.tool_calls, f"messages[{index}].tool_calls")
            parts.append(message.tool_calls)
        if not opening and message.role == "user":
            opening = len(parts)
    prompt = BETWEEN.join(parts)
    if opening and opening < len(parts):
        size = len(BETWEEN.join(parts[:opening]))
    return prompt, chars, size or len(prompt)


def _chars(content: Raw, index: int) -> int:
    """Of content that is no plain text."""
    parts = decode_part(_content, content, f"messages[{index}].content")
    return sum(len(part.text) for part in parts) if isinstance(parts, list) else 0
