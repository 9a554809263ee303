"""Words that whole answers of the Responses API and its streams have in common."""

import secrets
import time
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.errors import HeterodyneError, LimitReached
from heterodyne.gateway.dialects.responses import THOUGHTS
from heterodyne.gateway.dialects.responses_fields import ConversationName, conversation_id
from heterodyne.gateway.dialects.responses_tools import in_namespace
from heterodyne.gateway.usage_fields import ReportedUsage

Json = dict[str, Any]

COMPLETED: Final = "completed"
INCOMPLETE: Final = "incomplete"
IN_PROGRESS: Final = "in_progress"
REASONS: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}
NO_USAGE: Final = b""  # nothing was counted yet
TEXT_FORMAT: Final = {"format": {"type": "text"}}
NAMES: Final = ("user", "safety_identifier", "prompt_cache_key")  # told where they were given
NULL: Final = Raw(b"null")

encode = msgspec.json.Encoder().encode


class EchoedTool(Struct):
    """Of a tool, what tells how its calls look."""

    type: str = ""
    name: str = ""
    tools: list["EchoedTool"] = []


class AskedResponse(Struct, kw_only=True):
    """What of its request an answer tells again. The input is not read: it may be long."""

    model: str = ""
    instructions: Raw = NULL
    metadata: Raw = NULL
    parallel_tool_calls: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    tool_choice: Raw = NULL
    tools: list[Raw] | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    previous_response_id: str | None = None
    conversation: str | ConversationName | None = None
    reasoning: Raw = NULL
    text: dict[str, Raw] | None = None
    top_logprobs: int | None = None
    truncation: str | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    background: bool | None = None
    stream: bool | None = None
    include: list[str] | None = None


_decode_asked = msgspec.json.Decoder(AskedResponse).decode
_decode_tool = msgspec.json.Decoder(EchoedTool).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def new_id(prefix: str) -> str:
    """Nobody can guess it: whoever knows it and has a key of the project may read what it names."""
    return f"{prefix}_{secrets.token_hex(24)}"


class ResponseWords:
    """One response: its id, and what it tells of its request, encoded once for all events that tell it."""

    def __init__(self, body: bytes, response_id: str = "") -> None:
        self.asked = _decode_asked(body)
        self.id = response_id or new_id("resp")
        self.created_at = int(time.time())
        tools = [_decode_tool(tool) for tool in self.asked.tools or ()]
        # By the name that engines know it by, the namespace of a tool and its name there.
        self.namespaces = {
            in_namespace(one.name, tool.name): (one.name, tool.name) for one in tools for tool in one.tools
        }
        # By that name, tools that take any text; engines know them as functions.
        self.custom_tools = frozenset(tool.name for tool in tools if tool.type == "custom") | {
            in_namespace(one.name, tool.name) for one in tools for tool in one.tools if tool.type == "custom"
        }
        # Whether the client carries thoughts from turn to turn itself.
        self.seals_thoughts = THOUGHTS in (self.asked.include or ())
        self._echo: bytes | None = None
        self._completed_at = b""  # once it is: what is kept and what is told say the same

    def response(
        self,
        status: str,
        output: bytes,
        *,
        usage: bytes = NO_USAGE,
        reason: str = "",
        error: Json | None = None,
        is_stored: bool,
    ) -> bytes:
        """The response as it stands; `output` and `usage` are JSON."""
        if self._echo is None:
            self._echo = encode(_echo(self.asked))[1:]
        if status == COMPLETED:
            self._completed_at = self._completed_at or b"%d" % int(time.time())
        details = {"reason": reason} if reason else None
        return (
            b'{"id":"%b","object":"response","created_at":%d,"completed_at":%b,"status":"%b","store":%b,"error":%b,'
            b'"incomplete_details":%b,"output":%b,%b%b'
            % (
                self.id.encode(),
                self.created_at,
                self._completed_at or b"null",
                status.encode(),
                b"true" if is_stored else b"false",
                encode(error),
                encode(details),
                output,
                b'"usage":%b,' % usage if usage else b"",
                self._echo,
            )
        )


def used(usage: ReportedUsage | None) -> bytes:
    """Tokens, as JSON."""
    if usage is None:
        return NO_USAGE
    read, written = usage.prompt_tokens or 0, usage.completion_tokens or 0
    details, more = usage.prompt_tokens_details, usage.completion_tokens_details
    cached = 0 if details is None else details.cached_tokens or 0
    cache_write = 0 if details is None else details.cache_write_tokens or 0
    return encode(
        {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": cache_write},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0 if more is None else more.reasoning_tokens or 0},
            "total_tokens": read + written,
        }
    )


def error_of(error: HeterodyneError) -> Json:
    """Why a response failed."""
    if isinstance(error, LimitReached):
        return {"code": "rate_limit_exceeded", "message": error.message}
    return {"code": "invalid_prompt" if 400 <= error.status < 500 else "server_error", "message": error.message}


def _echo(asked: AskedResponse) -> Json:
    conversation = conversation_id(asked.conversation)
    return {
        "model": asked.model,
        "instructions": asked.instructions,
        "metadata": _or(asked.metadata, {}),
        "parallel_tool_calls": asked.parallel_tool_calls is not False,
        "temperature": 1.0 if asked.temperature is None else asked.temperature,
        "top_p": 1.0 if asked.top_p is None else asked.top_p,
        "tool_choice": _or(asked.tool_choice, "auto"),
        "tools": [_tool(tool) for tool in asked.tools or ()],
        "max_output_tokens": asked.max_output_tokens,
        "max_tool_calls": asked.max_tool_calls,
        "previous_response_id": asked.previous_response_id,
        "conversation": {"id": conversation} if conversation else None,
        "reasoning": _or(asked.reasoning, {"effort": None, "summary": None}),
        "text": asked.text if asked.text and "format" in asked.text else {**TEXT_FORMAT, **(asked.text or {})},
        "top_logprobs": asked.top_logprobs or 0,
        "truncation": asked.truncation or "disabled",
        "service_tier": "default",
        "background": bool(asked.background),
        **{name: value for name in NAMES if (value := getattr(asked, name)) is not None},
    }


def _or(value: Raw, otherwise: object) -> object:
    return otherwise if bytes(value) == b"null" else value


def _tool(tool: Raw) -> Json:
    """With the members that its clients expect."""
    members: Json = dict(_decode_members(tool))
    if _decode_tool(tool).type == "function":
        members = {"parameters": None, "strict": None, **members}
    return members
