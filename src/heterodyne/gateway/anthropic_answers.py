"""The forms of Anthropic's answers, for the API description."""

from typing import Literal

from msgspec import Raw, Struct


class AnthropicUsage(Struct):
    """Tokens read and written; those that were cached are counted apart."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class AnsweredBlock(Struct):
    """Words, thoughts, or a tool to call."""

    type: Literal["text", "thinking", "tool_use"]
    text: str = ""
    thinking: str = ""
    signature: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Raw] = {}


class AnsweredAnthropicMessage(Struct):
    """A whole answer."""

    id: str
    type: Literal["message"]
    role: Literal["assistant"]
    model: str
    content: list[AnsweredBlock]
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"]
    stop_sequence: str | None
    usage: AnthropicUsage


class AnthropicEvent(Struct):
    """The data of one event; which other members it has is its type's to say."""

    type: Literal[
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
    ]


class CountedTokens(Struct):
    """Of a prompt."""

    input_tokens: int


class AnthropicErrorDetail(Struct):
    """What happened."""

    type: str
    message: str


class AnthropicError(Struct):
    """Anthropic's error shape."""

    type: Literal["error"]
    error: AnthropicErrorDetail
