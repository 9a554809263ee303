"""POST /v1/chat/completions."""

from collections.abc import Sequence
from typing import Final, final

from heterodyne.domain.errors import CallerError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import check_count, decode
from heterodyne.gateway.dialects.chat_fields import ChatFields, Message, decoder
from heterodyne.gateway.dialects.generation import check_bounds, longest, read_stream, shown_bytes
from heterodyne.gateway.dialects.members import listed, private, read_members
from heterodyne.gateway.dialects.outline import MARK, try_outline
from heterodyne.gateway.dialects.parts import NO_PARTS, Parts, read_parts
from heterodyne.gateway.dialects.prompts import ChatPrompt
from heterodyne.gateway.settings import GatewaySettings

# What OpenAI's API has; the fields of single engines pass where their dialects say so.
API: Final = frozenset(
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

CHAT: Final = Operation.CHAT


@final
class ParsedChat:
    """What was parsed of a body, or of its outline."""

    __slots__ = ("fields", "members", "prompt", "value_bytes")

    def __init__(self, parsed: bytes, prompt: ChatPrompt) -> None:
        self.fields: ChatFields = decode(decoder, parsed)
        self.members, self.value_bytes = read_members(parsed)
        self.prompt = prompt


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    return _request(body, ParsedChat(body, ChatPrompt(body)), request_id, deadline_s, settings)


def try_read_long(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request | None:
    """The same of a body that is long by its texts, in a tenth of the time; None: it is another, or to be refused."""
    outline = try_outline(body)
    if outline is None:
        return None
    try:
        chat = ParsedChat(outline.body, ChatPrompt(body, outline))
    except CallerError:
        return None  # an error points at a place in the whole body
    if _marks(chat.fields.messages) != outline.texts:
        return None
    chat.value_bytes += outline.more_bytes
    return _request(body, chat, request_id, deadline_s, settings)


def _request(body: bytes, chat: ParsedChat, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    fields, members = chat.fields, chat.members
    messages, choices = fields.messages, fields.n or 1
    own, parts = private(members, API), parts_of(messages)
    output_tokens_max = longest(own, fields.max_completion_tokens, fields.max_tokens)
    sequences = check_bounds(settings, output_tokens_max, choices=choices)
    stream, wants_usage, has_stream_options = read_stream(fields)
    check_count("messages", "messages", len(messages), settings.messages_max)
    check_count("tools", "tools", len(fields.tools or ()), settings.tools_max)
    return Request(
        id=request_id,
        operation=CHAT,
        model=fields.model,
        body=body,
        stream=stream,
        wants_usage=wants_usage,
        has_stream_options=has_stream_options,
        prompt=chat.prompt,
        private_fields=listed(own, parts.private) if own or parts.private else (),
        prompt_chars=shown_bytes(members, chat.value_bytes) - parts.more_bytes,
        user=fields.user or "",
        output_tokens_max=output_tokens_max,
        choices=choices,
        sequences=sequences,
        has_logprobs=fields.logprobs is not None,
        deadline_s=deadline_s,
        is_stored=fields.store is True,
    )


def parts_of(messages: Sequence[Message]) -> Parts:
    """What is to be known of the parts of all messages; those of plain text cost a look each."""
    found = [part for message in messages if type(message.content) is list for part in message.content]
    return read_parts(found) if found else NO_PARTS


def _marks(messages: Sequence[Message]) -> int:
    """How many stand where a message says something."""
    found = 0
    for message in messages:
        content = message.content
        if type(content) is list:
            found += sum(part.text == MARK for part in content)
        else:
            found += content == MARK
    return found
