"""The body of POST /v1beta/models/{model}:generateContent out of an OpenAI chat."""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.request import Request
from heterodyne.engines.gemini.contents import PROVIDER, told_contents
from heterodyne.engines.hosted.asked_chat import AskedChat, AskedFormat, AskedTool, Members, read_asked
from heterodyne.engines.hosted.carried import HINTS, KEPT_HERE, REFUSED, NotTold, check_carried, rest_of

Json = dict[str, Any]

SAME: Final = (  # names of OpenAI's that mean the same, and Gemini's
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("top_k", "topK"),
    ("n", "candidateCount"),
    ("seed", "seed"),
    ("presence_penalty", "presencePenalty"),
    ("frequency_penalty", "frequencyPenalty"),
)
CHOICES: Final = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
LEVELS: Final = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "XHIGH"}
# Models of this generation know no levels; tokens as Google's own OpenAI API gives them.
BUDGETS_OF: Final = "gemini-2.5"
BUDGETS: Final = {"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576}
NOTED: Final = HINTS | {"user", "safety_identifier"}
# Everything of OpenAI's; what a body has beside it is Gemini's own.
KNOWN: Final = frozenset(
    {
        "model",
        "stream",
        "stream_options",
        *AskedChat.__struct_fields__,
        *(ours for ours, _ in SAME),
        *REFUSED,
        *NOTED,
        *KEPT_HERE,
    }
)

_encode = msgspec.json.Encoder().encode


def generate_body(request: Request, model: str) -> tuple[bytes, tuple[str, ...]]:
    """The body, and what of the chat is not in it; raises what it would not be the same answer without."""
    chat, members = read_asked(request.body)
    check_carried(members, REFUSED, PROVIDER)
    if chat.parallel_tool_calls is False and chat.tools:
        raise InvalidField(
            f"parallel_tool_calls: {PROVIDER} cannot be kept from several calls at once.", param="parallel_tool_calls"
        )
    lost = NotTold()
    system, contents = told_contents(chat.messages, lost)
    body: Json = {"contents": contents}
    if system:
        body["systemInstruction"] = {"parts": system}
    body |= _tools(chat, lost)
    config = _generation(chat, members, model)
    if config:
        body["generationConfig"] = config
    lost.note_description(chat.response_format)
    lost.note_hints(members, NOTED)
    return _encode(body | rest_of(members, KNOWN)), lost.paths


def _generation(chat: AskedChat, members: Members, model: str) -> Json:
    said: Json = {theirs: members[ours] for ours, theirs in SAME if ours in members and bytes(members[ours]) != b"null"}
    if chat.length is not None:
        said["maxOutputTokens"] = chat.length
    if chat.stops:
        said["stopSequences"] = chat.stops
    if chat.response_format is not None:
        said |= _format(chat.response_format)
    if chat.reasoning_effort is not None:
        said["thinkingConfig"] = _thinking(chat.reasoning_effort, model)
    return said


def _format(wanted: AskedFormat) -> Json:
    if wanted.type == "text":
        return {}
    said: Json = {"responseMimeType": "application/json"}
    if wanted.type == "json_object":
        return said
    if wanted.type != "json_schema" or wanted.json_schema is None or wanted.json_schema.schema is None:
        raise InvalidField(
            "response_format.type: `text`, `json_object`, or `json_schema` with a schema is expected.",
            param="response_format.type",
        )
    return said | {"responseJsonSchema": wanted.json_schema.schema}


def _thinking(effort: str, model: str) -> Json:
    if effort == "none":
        return {"thinkingBudget": 0}
    if effort not in LEVELS:
        raise InvalidField(f"reasoning_effort: one of {', '.join(LEVELS)} is expected.", param="reasoning_effort")
    if BUDGETS_OF in model:
        return {"thinkingBudget": BUDGETS[effort], "includeThoughts": True}
    return {"thinkingLevel": LEVELS[effort], "includeThoughts": True}


def _tools(chat: AskedChat, lost: NotTold) -> Json:
    said: Json = {}
    if chat.tools:
        declared = [_tool(tool, number, lost) for number, tool in enumerate(chat.tools)]
        said["tools"] = [{"functionDeclarations": declared}]
    if chat.tool_choice is not None and chat.tools:
        said["toolConfig"] = {"functionCallingConfig": _choice(chat)}
    return said


def _tool(tool: AskedTool, number: int, lost: NotTold) -> Json:
    declared = tool.function
    if tool.type != "function" or declared is None:
        path = f"tools[{number}].type"
        raise InvalidField(f"{path}: only functions can be told to {PROVIDER}.", param=path)
    lost.note("tools.function.strict", is_set=bool(declared.strict))
    said: Json = {"name": declared.name}
    if declared.description:
        said["description"] = declared.description
    if declared.parameters is not None:
        said["parametersJsonSchema"] = declared.parameters
    return said


def _choice(chat: AskedChat) -> Json:
    choice = chat.tool_choice
    if isinstance(choice, str):
        if choice not in CHOICES:
            raise InvalidField(f"tool_choice: one of {', '.join(CHOICES)} is expected.", param="tool_choice")
        return {"mode": CHOICES[choice]}
    if choice is None or choice.type != "function" or choice.function is None:
        raise InvalidField(f"tool_choice.type: only a function can be told to {PROVIDER}.", param="tool_choice.type")
    return {"mode": "ANY", "allowedFunctionNames": [choice.function.name]}
