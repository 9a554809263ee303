"""The typed fields of POST /v1/responses."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from heterodyne.gateway.dialects.body import ModelName, Name, Word
from heterodyne.gateway.dialects.generation_fields import Count

Role = Literal["user", "assistant", "system", "developer"]
METADATA_MAX = 16
Metadata = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=512)]], Meta(max_length=METADATA_MAX)
]


class ItemPart(Struct):
    """One part of what an item says, of any type; which members count is the type's to say."""

    type: Word
    text: str = ""
    refusal: str = ""
    image_url: str | None = None
    detail: Word | None = None
    file_id: Name | None = None
    file_data: str | None = None
    file_url: str | None = None
    filename: Name | None = None
    input_audio: dict[str, Any] | None = None


class InputItem(Struct):
    """One item of a conversation, of any type; one without a type is a message."""

    type: Word = "message"
    id: Name | None = None
    role: Role | None = None
    content: str | list[ItemPart] | None = None
    name: Name = ""
    namespace: Name | None = None
    call_id: Name = ""
    arguments: str = ""
    input: str = ""
    output: str | list[ItemPart] | None = None
    encrypted_content: str | None = None
    summary: list[ItemPart] = []


class ResponsesTool(Struct):
    """One tool of the client's own, several of them under one name, or by its type one that OpenAI runs."""

    type: Word
    name: Name = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    format: dict[str, Any] | None = None
    tools: list["ResponsesTool"] = []


class ToolName(Struct):
    """One tool, by name."""

    type: Word
    name: Name = ""


class ResponsesToolChoice(Struct):
    """Which tool is to be called, or which may be."""

    type: Word
    name: Name = ""
    mode: Literal["auto", "required"] = "auto"
    tools: list[ToolName] = []


class ReasoningOptions(Struct):
    """How long the model is to think, and how that is to be told."""

    effort: Word | None = None
    summary: Word | None = None
    generate_summary: Word | None = None


class TextFormat(Struct):
    """Text, any JSON, or JSON of a schema."""

    type: Literal["text", "json_object", "json_schema"]
    name: Name = ""
    schema: dict[str, Any] | None = None
    description: str | None = None
    strict: bool | None = None


class TextOptions(Struct):
    """How the answer is to look."""

    format: TextFormat | None = None
    verbosity: Word | None = None


class ConversationName(Struct):
    """A conversation, by its id."""

    id: Name


class StreamShape(Struct):
    """How a stream is to look."""

    include_obfuscation: bool | None = None


class ResponsesFields(Struct, kw_only=True):
    """One turn, and what it follows."""

    model: ModelName
    input: str | list[InputItem] = ""
    instructions: str | None = None
    previous_response_id: Name | None = None
    conversation: Name | ConversationName | None = None
    store: bool | None = None
    background: bool | None = None
    stream: bool | None = None
    stream_options: StreamShape | None = None
    max_output_tokens: Count | None = None
    max_tool_calls: Count | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    tools: list[ResponsesTool] | None = None
    tool_choice: Word | ResponsesToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: ReasoningOptions | None = None
    text: TextOptions | None = None
    truncation: Literal["auto", "disabled"] | None = None
    include: list[Name] | None = None
    metadata: Metadata | None = None
    user: Name | None = None
    safety_identifier: Name | None = None
    service_tier: Word | None = None
    prompt: Any = None
    prompt_cache_key: Name | None = None
    prompt_cache_retention: Word | None = None
    prompt_cache_options: Any = None
    context_management: Any = None
    moderation: Any = None
    access_programs: Any = None
    image: Any = None


decoder = msgspec.json.Decoder(ResponsesFields)


def conversation_id(named: str | ConversationName | None) -> str:
    """Of the conversation that a turn names; empty: it names none."""
    return named.id if isinstance(named, ConversationName) else named or ""
