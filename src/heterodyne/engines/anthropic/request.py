"""The body of POST /v1/messages out of an OpenAI chat."""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.anthropic.turns import told_turns
from heterodyne.engines.hosted.asked_chat import AskedChat, AskedFormat, AskedTool, read_asked
from heterodyne.engines.hosted.carried import HINTS, KEPT_HERE, REFUSED, NotTold, check_carried, rest_of

Json = dict[str, Any]

PROVIDER: Final = "Anthropic's API"
LENGTH_DEFAULT: Final = 4096  # tokens; it wants a length, and every model of its has at least this one
TEMPERATURE_MAX: Final = 1.0
CHOICES: Final = {"auto": "auto", "required": "any", "none": "none"}
EFFORTS: Final = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}
UNKNOWN: Final = {**REFUSED, "presence_penalty": None, "frequency_penalty": None}
NOTED: Final = HINTS | {"seed"}
# Everything of OpenAI's; what a body has beside it is Anthropic's own.
KNOWN: Final = frozenset(
    {"model", "n", "stream", "stream_options", *AskedChat.__struct_fields__, *UNKNOWN, *NOTED, *KEPT_HERE}
)

COUNTED: Final = ("model", "system", "messages", "tools", "tool_choice", "thinking")  # what the model is shown

_encode = msgspec.json.Encoder().encode


def messages_body(request: Request, replica: Replica) -> tuple[bytes, tuple[str, ...]]:
    """The body, and what of the chat is not in it; raises what it would not be the same answer without."""
    chat, members = read_asked(request.body)
    check_carried(members, UNKNOWN, PROVIDER)
    lost = NotTold()
    system, turns = told_turns(chat.messages, lost)
    body: Json = {"model": replica.engine_model or replica.model, "max_tokens": _length(chat, replica)}
    if system:
        body["system"] = system
    body["messages"] = turns
    body |= _sampling(chat) | _tools(chat) | _output(chat)
    if request.stream:
        body["stream"] = True
    user = chat.safety_identifier or chat.user
    if user:
        body["metadata"] = {"user_id": user}
    lost.note_description(chat.response_format)
    lost.note_hints(members, NOTED)
    body |= rest_of(members, KNOWN)
    if request.operation is Operation.COUNT:
        body = {name: body[name] for name in COUNTED if name in body}
    return _encode(body), lost.paths


def _length(chat: AskedChat, replica: Replica) -> int:
    return chat.length or min(LENGTH_DEFAULT, replica.context_tokens or LENGTH_DEFAULT)


def _sampling(chat: AskedChat) -> Json:
    said: Json = {}
    if chat.temperature is not None:
        if chat.temperature > TEMPERATURE_MAX:
            raise InvalidField(f"temperature: {PROVIDER} takes up to {TEMPERATURE_MAX:g}.", param="temperature")
        said["temperature"] = chat.temperature
    if chat.top_p is not None:
        said["top_p"] = chat.top_p
    if chat.stops:
        said["stop_sequences"] = chat.stops
    return said


def _tools(chat: AskedChat) -> Json:
    said: Json = {}
    if chat.tools:
        said["tools"] = [_tool(tool, number) for number, tool in enumerate(chat.tools)]
    choice = _choice(chat)
    if chat.parallel_tool_calls is False and chat.tools and choice.get("type") != "none":
        choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
    # Without tools it would be refused, and says nothing.
    if choice and (chat.tools or choice["type"] in ("any", "tool")):
        said["tool_choice"] = choice
    return said


def _tool(tool: AskedTool, number: int) -> Json:
    declared = tool.function
    if tool.type != "function" or declared is None:
        path = f"tools[{number}].type"
        raise InvalidField(f"{path}: only functions can be told to {PROVIDER}.", param=path)
    said: Json = {"name": declared.name, "input_schema": declared.parameters or {"type": "object", "properties": {}}}
    if declared.description:
        said["description"] = declared.description
    if declared.strict is not None:
        said["strict"] = declared.strict
    return said


def _choice(chat: AskedChat) -> Json:
    choice = chat.tool_choice
    if choice is None:
        return {}
    if isinstance(choice, str):
        if choice not in CHOICES:
            raise InvalidField(f"tool_choice: one of {', '.join(CHOICES)} is expected.", param="tool_choice")
        return {"type": CHOICES[choice]}
    if choice.type != "function" or choice.function is None:
        raise InvalidField(f"tool_choice.type: only a function can be told to {PROVIDER}.", param="tool_choice.type")
    return {"type": "tool", "name": choice.function.name}


def _output(chat: AskedChat) -> Json:
    """The form of the answer, and how much thought goes into it.

    Efforts go with thinking that is the model's to begin: a budget is only for older models, whose clients send
    `thinking` themselves.
    """
    said: Json = {}
    config: Json = {}
    effort = chat.reasoning_effort
    if effort == "none":
        said["thinking"] = {"type": "disabled"}
    elif effort is not None:
        if effort not in EFFORTS:
            raise InvalidField(f"reasoning_effort: one of {', '.join(EFFORTS)} is expected.", param="reasoning_effort")
        said["thinking"] = {"type": "adaptive"}
        config["effort"] = EFFORTS[effort]
    if chat.response_format is not None and chat.response_format.type != "text":
        config["format"] = _format(chat.response_format)
    return said | {"output_config": config} if config else said


def _format(wanted: AskedFormat) -> Json:
    if wanted.type != "json_schema" or wanted.json_schema is None or wanted.json_schema.schema is None:
        raise InvalidField(
            f"response_format.type: {PROVIDER} writes JSON of a schema alone: `json_schema`, with one, is expected.",
            param="response_format.type",
        )
    return {"type": "json_schema", "schema": wanted.json_schema.schema}
