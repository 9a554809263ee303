"""POST /v1beta/models/{model}:{verb}: Gemini's bodies as OpenAI's."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects import chat, embedding, tokenization
from heterodyne.gateway.dialects.body import Reader, check_count
from heterodyne.gateway.dialects.effort import effort_of
from heterodyne.gateway.dialects.gemini_contents import (
    chat_contents,
    chat_function_choice,
    chat_functions,
    content_text,
    json_schema,
)
from heterodyne.gateway.dialects.gemini_fields import (
    CountFields,
    EmbedFields,
    GenerateFields,
    GenerationConfig,
    ThinkingConfig,
    batch_embed_decoder,
    count_decoder,
    embed_decoder,
    generate_decoder,
)
from heterodyne.gateway.dialects.gemini_spelling import decode_either
from heterodyne.gateway.dialects.not_carried import NotCarried
from heterodyne.gateway.settings import GatewaySettings

Json = dict[str, Any]

SAME: Final = (  # names of ours, and of OpenAI's
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("max_output_tokens", "max_tokens"),
    ("candidate_count", "n"),
    ("stop_sequences", "stop"),
    ("seed", "seed"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
)

_encode = msgspec.json.Encoder().encode


def try_reader(model: str, verb: str) -> Reader | None:
    """What reads the bodies of one model and verb; None: there is no such verb."""
    read = VERBS.get(verb)
    return None if read is None else partial(read, model)


def _read(
    model: str, body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings, *, stream: bool = False
) -> Request:
    fields, lost = decode_either(generate_decoder, body), NotCarried()
    said = _prompt(model, fields, settings, lost) | _generation(fields.generation_config, lost)
    if stream:
        said |= {"stream": True, "stream_options": {"include_usage": True}}
    if fields.tool_config is not None and fields.tool_config.function_calling_config is not None:
        said["tool_choice"] = chat_function_choice(fields.tool_config.function_calling_config)
    lost.note("safetySettings", is_set=bool(fields.safety_settings))
    lost.note("labels", is_set=bool(fields.labels))
    return lost.told(chat.read(_encode(said), request_id, deadline_s, settings), body)


def _read_count(model: str, body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    fields, lost = decode_either(count_decoder, body), NotCarried()
    asked = fields.generate_content_request or fields
    if not asked.contents:
        raise InvalidField("contents: at least one turn is expected.", param="contents")
    said = _prompt(model, asked, settings, lost)
    return lost.told(tokenization.read_count(_encode(said), request_id, deadline_s, settings), body)


def _read_embed(model: str, body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    return _embedding(model, [decode_either(embed_decoder, body)], body, request_id, deadline_s, settings)


def _read_batch_embed(
    model: str, body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings
) -> Request:
    return _embedding(model, decode_either(batch_embed_decoder, body).requests, body, request_id, deadline_s, settings)


VERBS: Final[dict[str, Callable[..., Request]]] = {
    "generateContent": _read,
    "streamGenerateContent": partial(_read, stream=True),
    "countTokens": _read_count,
    "embedContent": _read_embed,
    "batchEmbedContents": _read_batch_embed,
}


def _embedding(  # noqa: PLR0917  # as a reader has them
    model: str, asked: list[EmbedFields], body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings
) -> Request:
    lost = NotCarried()
    sizes = {one.output_dimensionality for one in asked}
    if len(sizes) > 1:
        raise InvalidField("requests.outputDimensionality: one for all is expected.", param="requests")
    for one in asked:
        lost.note("taskType", is_set=one.task_type is not None)
        lost.note("title", is_set=one.title is not None)
    said: Json = {"model": model, "input": [content_text(one.content, "content") for one in asked]}
    size = sizes.pop()
    if size is not None:
        said["dimensions"] = size
    return lost.told(embedding.read(_encode(said), request_id, deadline_s, settings), body)


def _prompt(model: str, fields: GenerateFields | CountFields, settings: GatewaySettings, lost: NotCarried) -> Json:
    check_count("contents", "turns", len(fields.contents), settings.messages_max)
    said: Json = {"model": model, "messages": chat_contents(fields.system_instruction, fields.contents, lost)}
    if not said["messages"]:
        raise InvalidField("contents: at least one part is expected.", param="contents")
    functions = chat_functions(fields.tools or [], lost)
    if functions:
        check_count("tools", "functions", len(functions), settings.tools_max)
        said["tools"] = functions
    return said


def _generation(config: GenerationConfig, lost: NotCarried) -> Json:
    said: Json = {theirs: getattr(config, ours) for ours, theirs in SAME if getattr(config, ours) is not None}
    if config.top_k is not None:
        said["top_k"] = int(config.top_k)
    schema = config.response_json_schema or (config.response_schema and json_schema(config.response_schema))
    if schema:
        said["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    elif config.response_mime_type == "application/json":
        said["response_format"] = {"type": "json_object"}
    if config.thinking_config is not None:
        said |= _effort(config.thinking_config, lost)
    return said


def _effort(config: ThinkingConfig, lost: NotCarried) -> Json:
    lost.note("generationConfig.thinkingConfig.includeThoughts", is_set=config.include_thoughts is False)
    if config.thinking_level is not None:
        return {"reasoning_effort": config.thinking_level.lower()}
    budget = config.thinking_budget
    if budget is None:
        return {}
    lost.note("generationConfig.thinkingConfig.thinkingBudget", is_set=True)
    return {"reasoning_effort": effort_of(budget)} if budget > 0 else {}
