"""POST /v1/messages and /v1/messages/count_tokens: Anthropic's bodies as OpenAI's."""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects import chat, tokenization
from heterodyne.gateway.dialects.anthropic_fields import (
    AnthropicOutputFormat,
    AnthropicPromptFields,
    AnthropicThinking,
    MessagesFields,
)
from heterodyne.gateway.dialects.anthropic_messages import chat_messages, chat_tool_choice, chat_tools
from heterodyne.gateway.dialects.body import check_count
from heterodyne.gateway.dialects.effort import effort_of
from heterodyne.gateway.dialects.newer_fields import NewerFields
from heterodyne.gateway.dialects.not_carried import NotCarried
from heterodyne.gateway.settings import GatewaySettings

Json = dict[str, Any]

EFFORTS: Final = {"low": "low", "medium": "medium", "high": "high", "max": "high", "xhigh": "high"}

_encode = msgspec.json.Encoder().encode
_messages = NewerFields(MessagesFields)
_counted = NewerFields(AnthropicPromptFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a chat."""
    lost = NotCarried()
    fields = _messages.read(body, lost)
    said = _prompt(fields, settings, lost)
    said["max_tokens"] = fields.max_tokens
    if fields.stream:
        # The last events of Anthropic's stream tell what was used.
        said |= {"stream": True, "stream_options": {"include_usage": True}}
    if fields.stop_sequences:
        said["stop"] = fields.stop_sequences
    for name in ("temperature", "top_p", "top_k"):
        value = getattr(fields, name)
        if value is not None:
            said[name] = value
    if fields.metadata is not None and fields.metadata.user_id:
        said["user"] = fields.metadata.user_id
    lost.note("service_tier", is_set=fields.service_tier not in (None, "auto"))
    lost.note("inference_geo", is_set=fields.inference_geo is not None)
    request = chat.read(_encode(said), request_id, deadline_s, settings)
    return lost.told(request, body)


def read_count(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a question for the tokens of a prompt."""
    lost = NotCarried()
    fields = _counted.read(body, lost)
    prompt = _prompt(fields, settings, lost)
    said = {name: prompt[name] for name in ("model", "messages", "tools") if name in prompt}
    request = tokenization.read_count(_encode(said), request_id, deadline_s, settings)
    return lost.told(request, body)


def _prompt(fields: AnthropicPromptFields, settings: GatewaySettings, lost: NotCarried) -> Json:
    check_count("messages", "messages", len(fields.messages), settings.messages_max)
    for name, is_set in (("mcp_servers", bool(fields.mcp_servers)), ("container", fields.container is not None)):
        if is_set:
            raise InvalidField(f"{name}: no tools are run here; run them where the client is.", param=name)
    said: Json = {"model": fields.model, "messages": chat_messages(fields, lost)}
    lost.note("cache_control", is_set=fields.cache_control is not None)
    lost.note("speed", is_set=fields.speed is not None)
    if fields.tools:
        check_count("tools", "tools", len(fields.tools), settings.tools_max)
        said["tools"] = chat_tools(fields.tools, lost)
    if fields.tool_choice is not None:
        said |= chat_tool_choice(fields.tool_choice)
    if fields.thinking is not None:
        said |= _effort(fields.thinking, lost)
    config = fields.output_config
    if config is not None and config.effort is not None:
        said["reasoning_effort"] = EFFORTS.get(config.effort, config.effort)
    schema = fields.output_format or (None if config is None else config.format)
    if schema is not None:
        said["response_format"] = _response_format(schema)
    return said


def _effort(thinking: AnthropicThinking, lost: NotCarried) -> Json:
    lost.note("thinking.display", is_set=thinking.display is not None)
    if thinking.type != "enabled" or thinking.budget_tokens is None:
        lost.note("thinking", is_set=thinking.type == "disabled")
        return {}
    lost.note("thinking.budget_tokens", is_set=True)
    return {"reasoning_effort": effort_of(thinking.budget_tokens)}


def _response_format(wanted: AnthropicOutputFormat) -> Json:
    if wanted.type != "json_schema":
        raise InvalidField("output_format.type: `json_schema` is expected.", param="output_format.type")
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": wanted.schema, "strict": True}}
