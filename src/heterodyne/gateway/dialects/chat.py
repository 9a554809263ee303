"""POST /v1/chat/completions."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.domain.request import Operation, Request
from heterodyne.gateway.dialects.body import Name, Word, check_count, decode
from heterodyne.gateway.dialects.generation import Count, GenerationFields, check_bounds, longest, shown_bytes
from heterodyne.gateway.dialects.members import listed, private, read_members
from heterodyne.gateway.dialects.parts import NO_PARTS, Part, Parts, read_parts
from heterodyne.gateway.dialects.prompts import ChatPrompt
from heterodyne.gateway.settings import GatewaySettings

# What OpenAI's API has; the fields of single engines pass where their dialects say so.
API = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "metadata",
        "modalities",
        "model",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    }
)
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


_decoder = msgspec.json.Decoder(ChatFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    members, value_bytes = read_members(body)
    own, parts = private(members, API), parts_of(fields.messages)
    output_tokens_max = longest(own, fields.max_completion_tokens, fields.max_tokens)
    sequences = check_bounds(fields, settings, output_tokens_max)
    check_count("messages", "messages", len(fields.messages), settings.messages_max)
    check_count("tools", "tools", len(fields.tools or ()), settings.tools_max)
    return Request(
        id=request_id,
        operation=Operation.CHAT,
        model=fields.model,
        body=body,
        stream=bool(fields.stream),
        wants_usage=fields.wants_usage(),
        has_stream_options=fields.stream_options is not msgspec.UNSET,
        prompt=ChatPrompt(body),
        private_fields=listed(own, parts.private) if own or parts.private else (),
        prompt_chars=shown_bytes(members, value_bytes) - parts.more_bytes,
        user=fields.user or "",
        output_tokens_max=output_tokens_max,
        choices=fields.n or 1,
        sequences=sequences,
        has_logprobs=fields.logprobs is not None,
        deadline_s=deadline_s,
    )


def parts_of(messages: Sequence[Message]) -> Parts:
    """What is to be known of the parts of all messages; those of plain text cost a look each."""
    found = [part for message in messages if type(message.content) is list for part in message.content]
    return read_parts(found) if found else NO_PARTS
