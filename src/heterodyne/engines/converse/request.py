"""The body of POST /model/{model}/converse out of an OpenAI chat."""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.converse.turns import PROVIDER, told_messages
from heterodyne.engines.hosted.asked_chat import AskedChat, AskedFormat, AskedTool, read_asked
from heterodyne.engines.hosted.carried import HINTS, KEPT_HERE, REFUSED, NotTold, check_carried, rest_of

Json = dict[str, Any]

TEMPERATURE_MAX: Final = 1.0
CHOICES: Final = {"auto": "auto", "required": "any"}
EFFORTS: Final = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}
UNKNOWN: Final = {**REFUSED, "presence_penalty": None, "frequency_penalty": None}
NOTED: Final = HINTS | {"seed", "user", "safety_identifier"}
# Everything of OpenAI's; what a body has beside it is Converse's own.
KNOWN: Final = frozenset(
    {"model", "n", "stream", "stream_options", *AskedChat.__struct_fields__, *UNKNOWN, *NOTED, *KEPT_HERE}
)
COUNTED: Final = ("messages", "system", "toolConfig", "additionalModelRequestFields")  # what the model is shown

_encode = msgspec.json.Encoder().encode


def converse_body(request: Request) -> tuple[bytes, tuple[str, ...]]:
    """The body, and what of the chat is not in it; raises what it would not be the same answer without."""
    chat, members = read_asked(request.body)
    check_carried(members, UNKNOWN, PROVIDER)
    lost = NotTold()
    system, messages = told_messages(chat.messages, lost)
    body: Json = {"messages": messages}
    if system:
        body["system"] = system
    body |= _inference(chat) | _tools(chat, lost) | _output(chat)
    lost.note_hints(members, NOTED)
    body |= rest_of(members, KNOWN)
    if request.operation is Operation.COUNT:
        body = {"input": {"converse": {name: body[name] for name in COUNTED if name in body}}}
    return _encode(body), lost.paths


def _inference(chat: AskedChat) -> Json:
    said: Json = {}
    if chat.length is not None:
        said["maxTokens"] = chat.length
    if chat.temperature is not None:
        if chat.temperature > TEMPERATURE_MAX:
            raise InvalidField(f"temperature: {PROVIDER} takes up to {TEMPERATURE_MAX:g}.", param="temperature")
        said["temperature"] = chat.temperature
    if chat.top_p is not None:
        said["topP"] = chat.top_p
    if chat.stops:
        said["stopSequences"] = chat.stops
    return {"inferenceConfig": said} if said else {}


def _tools(chat: AskedChat, lost: NotTold) -> Json:
    if not chat.tools:
        _check_no_choice(chat)
        return {}
    if chat.parallel_tool_calls is False:
        raise InvalidField(
            f"parallel_tool_calls: {PROVIDER} cannot be kept from several calls at once.", param="parallel_tool_calls"
        )
    if chat.tool_choice == "none":
        # It has no such choice, and a model that is shown no tools calls none; but it wants them beside earlier calls.
        if any(message.tool_calls for message in chat.messages):
            raise InvalidField(f"tool_choice: after a call {PROVIDER} has no `none`.", param="tool_choice")
        lost.note("tools", is_set=True)
        return {}
    config: Json = {"tools": [_tool(tool, number) for number, tool in enumerate(chat.tools)]}
    if chat.tool_choice is not None:
        config["toolChoice"] = _choice(chat)
    return {"toolConfig": config}


def _check_no_choice(chat: AskedChat) -> None:
    if chat.tool_choice not in (None, "auto", "none"):
        raise InvalidField("tool_choice: there are no tools to be called.", param="tool_choice")


def _tool(tool: AskedTool, number: int) -> Json:
    declared = tool.function
    if tool.type != "function" or declared is None:
        path = f"tools[{number}].type"
        raise InvalidField(f"{path}: only functions can be told to {PROVIDER}.", param=path)
    schema: Any = declared.parameters or {"type": "object", "properties": {}}
    said: Json = {"name": declared.name, "inputSchema": {"json": schema}}
    if declared.description:
        said["description"] = declared.description
    if declared.strict is not None:
        said["strict"] = declared.strict
    return {"toolSpec": said}


def _choice(chat: AskedChat) -> Json:
    choice = chat.tool_choice
    if isinstance(choice, str):
        if choice not in CHOICES:
            raise InvalidField(f"tool_choice: one of {', '.join(CHOICES)}, none is expected.", param="tool_choice")
        return {CHOICES[choice]: {}}
    if choice is None or choice.type != "function" or choice.function is None:
        raise InvalidField(f"tool_choice.type: only a function can be told to {PROVIDER}.", param="tool_choice.type")
    return {"tool": {"name": choice.function.name}}


def _output(chat: AskedChat) -> Json:
    """The form of the answer, and how much thought goes into it."""
    said: Json = {}
    effort = chat.reasoning_effort
    if effort is not None:
        if effort not in EFFORTS:
            raise InvalidField(f"reasoning_effort: one of {', '.join(EFFORTS)} is expected.", param="reasoning_effort")
        said["effort"] = EFFORTS[effort]
    if chat.response_format is not None and chat.response_format.type != "text":
        said["textFormat"] = _format(chat.response_format)
    return {"outputConfig": said} if said else {}


def _format(wanted: AskedFormat) -> Json:
    if wanted.type != "json_schema" or wanted.json_schema is None or wanted.json_schema.schema is None:
        raise InvalidField(
            f"response_format.type: {PROVIDER} writes JSON of a schema alone: `json_schema`, with one, is expected.",
            param="response_format.type",
        )
    schema = wanted.json_schema
    told: Json = {"schema": _encode(schema.schema).decode()}
    if schema.name:
        told["name"] = schema.name
    if schema.description:
        told["description"] = schema.description
    return {"type": "json_schema", "structure": {"jsonSchema": told}}
