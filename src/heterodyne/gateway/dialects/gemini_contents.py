"""Gemini's turns and functions as OpenAI's. What no engine can be told is refused by its path, or noted."""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects.chat_turns import asked_turn, call_of, said_turn
from heterodyne.gateway.dialects.gemini_fields import (
    CalledFunction,
    FunctionCallingConfig,
    FunctionResult,
    GeminiContent,
    GeminiPart,
    GeminiTool,
)
from heterodyne.gateway.dialects.not_carried import NotCarried

Json = dict[str, Any]

MODES: Final = {"MODE_UNSPECIFIED": "auto", "AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}
PICTURES: Final = "image/"


class Calls:
    """Ids of calls: Gemini's may have none, and a result then says the function's name alone."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, deque[str]] = {}  # by name, those without a result

    def begin(self, call: CalledFunction) -> str:
        self._count += 1
        found = call.id or f"call_{self._count}"
        self._open.setdefault(call.name, deque()).append(found)
        return found

    def end(self, result: FunctionResult, where: str) -> str:
        waiting = self._open.get(result.name, deque())
        if result.id is not None and result.id in waiting:
            waiting.remove(result.id)
            return result.id
        if not waiting or result.id:
            raise InvalidField(f"{where}: no earlier call of {result.name!r} waits for this.", param=where)
        return waiting.popleft()


def chat_contents(system: GeminiContent | None, contents: list[GeminiContent], lost: NotCarried) -> list[Json]:
    """The conversation, with what the system says first."""
    messages: list[Json] = []
    if system is not None:
        text = content_text(system, "systemInstruction")
        messages += [{"role": "system", "content": text}] if text else []
    calls = Calls()
    for number, content in enumerate(contents):
        path = f"contents[{number}].parts"
        if content.role == "model":
            messages.append(_said(content, path, calls, lost))
        else:
            messages += _asked(content, path, calls)
    return messages


def chat_functions(tools: list[GeminiTool], lost: NotCarried) -> list[Json]:
    """All of them; types in Gemini's schemas are written large."""
    found = []
    for one in [declared for tool in tools for declared in tool.function_declarations]:
        lost.note("tools.functionDeclarations.response", is_set=one.response is not None)
        lost.note("tools.functionDeclarations.responseJsonSchema", is_set=one.response_json_schema is not None)
        lost.note("tools.functionDeclarations.behavior", is_set=one.behavior is not None)
        schema = one.parameters_json_schema or (one.parameters and json_schema(one.parameters)) or {"type": "object"}
        function: Json = {"name": one.name, "parameters": schema}
        if one.description:
            function["description"] = one.description
        found.append({"type": "function", "function": function})
    return found


def chat_function_choice(config: FunctionCallingConfig) -> Any:
    """As OpenAI's `tool_choice`."""
    names = config.allowed_function_names or []
    if config.mode == "ANY" and len(names) == 1:
        return {"type": "function", "function": {"name": names[0]}}
    if names:
        where = "toolConfig.functionCallingConfig.allowedFunctionNames"
        raise InvalidField(f"{where}: one name with the mode ANY, or none, is expected.", param=where)
    return MODES[config.mode]


def json_schema(schema: Any) -> Any:
    """A schema with its types written small, as everybody else has them."""
    if isinstance(schema, list):
        return [json_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value.lower() if name == "type" and isinstance(value, str) else json_schema(value)
        for name, value in schema.items()
    }


def _said(content: GeminiContent, path: str, calls: Calls, lost: NotCarried) -> Json:
    texts, thoughts, called = [], [], []
    for number, part in enumerate(content.parts):
        lost.note("contents.parts.thoughtSignature", is_set=part.thought_signature is not None)
        if part.function_call is not None:
            call = part.function_call
            called.append(call_of(calls.begin(call), call.name, call.args))
        elif part.text is None:
            raise _unknown(f"{path}[{number}]")
        elif part.thought:
            thoughts.append(part.text)
        else:
            texts.append(part.text)
    return said_turn(texts, thoughts, called)


def _asked(content: GeminiContent, path: str, calls: Calls) -> Iterator[Json]:
    """Results of functions are messages of their own, before what the user says to them."""
    parts: list[Json] = []
    for number, part in enumerate(content.parts):
        where = f"{path}[{number}]"
        if part.function_response is not None:
            result = part.function_response
            text = msgspec.json.encode(result.response).decode()
            call = calls.end(result, f"{where}.functionResponse")
            yield {"role": "tool", "tool_call_id": call, "content": text}
        elif part.text is not None:
            parts.append({"type": "text", "text": part.text})
        else:
            parts.append({"type": "image_url", "image_url": {"url": _picture(part, where)}})
    if parts:
        yield asked_turn(parts)


def _picture(part: GeminiPart, where: str) -> str:
    inline, file = part.inline_data, part.file_data
    if inline is not None and inline.mime_type.startswith(PICTURES):
        # Google's client writes the alphabet of addresses, which others do not read.
        return f"data:{inline.mime_type};base64,{inline.data.replace('-', '+').replace('_', '/')}"
    if file is not None and (file.mime_type or PICTURES).startswith(PICTURES):
        return file.file_uri
    raise _unknown(where)


def content_text(content: GeminiContent, path: str) -> str:
    """Words alone."""
    for number, part in enumerate(content.parts):
        if part.text is None:
            raise _unknown(f"{path}.parts[{number}]")
    return "\n".join(part.text or "" for part in content.parts)


def _unknown(where: str) -> InvalidField:
    return InvalidField(f"{where}: text, a picture, a call or its result is expected.", param=where)
