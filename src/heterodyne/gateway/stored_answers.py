"""The forms of responses, conversations and lists of kept objects, for the API description."""

from typing import Any, Literal

from msgspec import Raw, Struct

from heterodyne.gateway.answers import ChatCompletion


class ResponseUsage(Struct):
    """Tokens read and written."""

    input_tokens: int
    input_tokens_details: dict[str, int]
    output_tokens: int
    output_tokens_details: dict[str, int]
    total_tokens: int


class ResponseProblem(Struct):
    """Why a response failed."""

    code: Literal["server_error", "rate_limit_exceeded", "invalid_prompt"]
    message: str


class AnsweredItem(Struct):
    """Thoughts, words, or a tool to call; which other members it has is its type's to say."""

    id: str
    type: str


class AnsweredResponse(Struct):
    """A response; beside what is named here it tells what it was asked with."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "incomplete", "failed", "in_progress", "queued", "cancelled"]
    model: str
    output: list[AnsweredItem]
    parallel_tool_calls: bool
    tool_choice: Raw
    tools: list[Raw]
    metadata: dict[str, str]
    instructions: Any
    temperature: float
    top_p: float
    error: ResponseProblem | None
    incomplete_details: dict[str, str] | None
    previous_response_id: str | None
    store: bool
    usage: ResponseUsage | None = None  # once it was counted


class ResponseEvent(Struct):
    """The data of one event; which other members it has is its type's to say."""

    type: str
    sequence_number: int


class ItemList(Struct):
    """Some items, and whether there are more."""

    object: Literal["list"]
    data: list[AnsweredItem]
    first_id: str | None
    last_id: str | None
    has_more: bool


class Conversation(Struct):
    """What several responses share."""

    id: str
    object: Literal["conversation"]
    created_at: int
    metadata: dict[str, str]


class DeletedObject(Struct):
    """It is gone."""

    id: str
    object: str
    deleted: bool


class StoredCompletion(ChatCompletion, kw_only=True):
    """A chat completion that was kept."""

    metadata: dict[str, str]


class CompletionList(Struct):
    """Some completions, and whether there are more."""

    object: Literal["list"]
    data: list[StoredCompletion]
    first_id: str | None
    last_id: str | None
    has_more: bool


class MessageList(Struct):
    """What a completion was asked."""

    object: Literal["list"]
    data: list[dict[str, Raw]]
    first_id: str | None
    last_id: str | None
    has_more: bool


class CountedTurn(Struct):
    """How many tokens the model would be shown."""

    object: Literal["response.input_tokens"]
    input_tokens: int
