"""POST /v1/responses and /v1/responses/input_tokens: OpenAI's newer API as its older one.

What a turn follows stands in its input by now.
"""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects import chat, tokenization
from heterodyne.gateway.dialects.body import check_count
from heterodyne.gateway.dialects.newer_fields import NewerFields
from heterodyne.gateway.dialects.not_carried import NotCarried
from heterodyne.gateway.dialects.responses_fields import ResponsesFields, TextFormat
from heterodyne.gateway.dialects.responses_items import chat_messages
from heterodyne.gateway.dialects.responses_tools import chat_tool_choice, chat_tools
from heterodyne.gateway.settings import GatewaySettings

Json = dict[str, Any]

LOGPROBS: Final = "message.output_text.logprobs"
THOUGHTS: Final = "reasoning.encrypted_content"
INCLUDED: Final = (LOGPROBS, THOUGHTS)  # what can be
# Hints to OpenAI's own service, which do no harm where they are not followed.
HINTS: Final = (
    "max_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "context_management",
    "moderation",
    "access_programs",
    "image",
)

_encode = msgspec.json.Encoder().encode
_turns = NewerFields(ResponsesFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a chat."""
    lost = NotCarried()
    fields = _turns.read(body, lost)
    if isinstance(fields.input, list):
        check_count("input", "items", len(fields.input), settings.messages_max)
    if fields.prompt is not None:
        raise InvalidField("prompt: no templates of prompts are kept here.", param="prompt")
    said: Json = {"model": fields.model, "messages": chat_messages(fields)}
    said |= _tools(fields, settings, lost)
    if fields.stream:
        # The last event of the stream tells what was used.
        said |= {"stream": True, "stream_options": {"include_usage": True}}
    if fields.max_output_tokens is not None:
        said["max_tokens"] = fields.max_output_tokens
    for name in ("temperature", "top_p", "parallel_tool_calls"):
        value = getattr(fields, name)
        if value is not None:
            said[name] = value
    user = fields.user or fields.safety_identifier
    if user:
        said["user"] = user
    said |= _format(fields, lost) | _effort(fields, lost) | _logprobs(fields, lost)
    _note_hints(fields, lost)
    request = chat.read(_encode(said), request_id, deadline_s, settings)
    request.is_stored = fields.store is not False
    request.kept_share = 1.0 if fields.truncation == "auto" else None
    return lost.told(request, body)


def read_count(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a question for the tokens of a turn."""
    lost = NotCarried()
    fields = _turns.read(body, lost)
    said: Json = {"model": fields.model, "messages": chat_messages(fields)}
    tools = _tools(fields, settings, lost).get("tools")
    if tools:
        said["tools"] = tools
    return lost.told(tokenization.read_count(_encode(said), request_id, deadline_s, settings), body)


def _tools(fields: ResponsesFields, settings: GatewaySettings, lost: NotCarried) -> Json:
    if not fields.tools:
        return {}
    check_count("tools", "tools", len(fields.tools), settings.tools_max)
    tools = chat_tools(fields.tools, lost)
    return {"tools": tools} | chat_tool_choice(fields, tools)


def _format(fields: ResponsesFields, lost: NotCarried) -> Json:
    text = fields.text
    if text is None:
        return {}
    lost.note("text.verbosity", is_set=text.verbosity is not None)
    if text.format is None or text.format.type == "text":
        return {}
    if text.format.type == "json_object":
        return {"response_format": {"type": "json_object"}}
    return {"response_format": {"type": "json_schema", "json_schema": _schema(text.format)}}


def _schema(wanted: TextFormat) -> Json:
    if wanted.schema is None:
        raise InvalidField("text.format.schema: a schema is expected.", param="text.format.schema")
    found: Json = {"name": wanted.name or "answer", "schema": wanted.schema}
    if wanted.description:
        found["description"] = wanted.description
    if wanted.strict is not None:
        found["strict"] = wanted.strict
    return found


def _effort(fields: ResponsesFields, lost: NotCarried) -> Json:
    reasoning = fields.reasoning
    if reasoning is None:
        return {}
    lost.note("reasoning.summary", is_set=bool(reasoning.summary or reasoning.generate_summary))
    return {} if reasoning.effort is None else {"reasoning_effort": reasoning.effort}


def _logprobs(fields: ResponsesFields, lost: NotCarried) -> Json:
    included = fields.include or ()
    for name in included:
        lost.note(f"include.{name}", is_set=name not in INCLUDED)
    if LOGPROBS not in included and not fields.top_logprobs:
        return {}
    return {"logprobs": True, "top_logprobs": fields.top_logprobs or 0}


def _note_hints(fields: ResponsesFields, lost: NotCarried) -> None:
    for name in HINTS:
        lost.note(name, is_set=getattr(fields, name) is not None)
    lost.note("service_tier", is_set=fields.service_tier not in (None, "auto", "default"))
    shape = fields.stream_options
    lost.note("stream_options.include_obfuscation", is_set=shape is not None and bool(shape.include_obfuscation))
