"""POST /v1/chat/completions."""

from collections.abc import Sequence
from typing import Final

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import check_count, decode
from heterodyne.gateway.dialects.chat_fields import Message, decoder
from heterodyne.gateway.dialects.generation import check_bounds, longest, names_stream_options, shown_bytes, wants_usage
from heterodyne.gateway.dialects.members import listed, private, read_members
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


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(decoder, body)
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
        wants_usage=wants_usage(fields),
        has_stream_options=names_stream_options(fields),
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
