"""The tools of a Responses body as a chat's. Engines know functions only, so that a tool which takes any text is one
with a single argument."""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects.not_carried import NotCarried
from heterodyne.gateway.dialects.responses_fields import ResponsesFields, ResponsesTool, ResponsesToolChoice

Json = dict[str, Any]

ARGUMENT: Final = "input"
ANY_TEXT: Final = {
    "type": "object",
    "properties": {ARGUMENT: {"type": "string"}},
    "required": [ARGUMENT],
    "additionalProperties": False,
}
CHOICES: Final = ("none", "auto", "required")
OWN: Final = ("function", "custom")  # that the client runs
NAMESPACE: Final = "namespace"


def custom_arguments(text: str) -> str:
    """What a tool that takes any text was called with, as the arguments of the function that stands for it."""
    return msgspec.json.encode({ARGUMENT: text}).decode()


def in_namespace(namespace: str, name: str) -> str:
    """The name by which engines know a tool that stands under another name with its like."""
    return f"{namespace}__{name}"


def chat_tools(tools: list[ResponsesTool], lost: NotCarried) -> list[Json]:
    """The client's own. Those that OpenAI runs are nowhere else: beside others they are named in the answer, as the
    model can do without; alone they are what was asked for, and refused."""
    found: list[Json] = []
    hosted: list[tuple[str, str]] = []
    for number, tool in enumerate(tools):
        path = f"tools[{number}]"
        if tool.type in OWN:
            found.append(_function(tool, path, lost))
        elif tool.type == NAMESPACE:
            found += [_function(one, f"{path}.tools[{place}]", lost, tool) for place, one in enumerate(tool.tools)]
        else:
            hosted.append((path, tool.type))
    for path, kind in hosted:
        if not found:
            raise InvalidField(
                f"{path}.type: {kind!r} is run by OpenAI; only tools of the types `function` and `custom` are known "
                "here.",
                param=f"{path}.type",
            )
        lost.note(f"{path}.type", is_set=True)
    return found


def _function(tool: ResponsesTool, path: str, lost: NotCarried, namespace: ResponsesTool | None = None) -> Json:
    if tool.type not in OWN:
        raise InvalidField(f"{path}.type: `function` or `custom` is expected.", param=f"{path}.type")
    if not tool.name or (namespace is not None and not namespace.name):
        raise InvalidField(f"{path}.name: a name is expected.", param=f"{path}.name")
    name = tool.name if namespace is None else in_namespace(namespace.name, tool.name)
    function: Json = {"name": name, "parameters": ANY_TEXT if tool.type == "custom" else tool.parameters or {}}
    lost.note("tools.format", is_set=tool.format is not None and tool.format.get("type") != "text")
    if tool.description:
        function["description"] = tool.description
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def chat_tool_choice(fields: ResponsesFields, tools: list[Json]) -> Json:
    """The members of a chat that say the same; of tools that may be called, only those are shown."""
    choice = fields.tool_choice
    if choice is None:
        return {}
    if isinstance(choice, str):
        if choice not in CHOICES:
            raise InvalidField(f"tool_choice: one of {', '.join(CHOICES)} is expected.", param="tool_choice")
        return {"tool_choice": choice}
    if choice.type == "allowed_tools":
        names = {one.name for one in choice.tools}
        return {"tool_choice": choice.mode, "tools": [one for one in tools if one["function"]["name"] in names]}
    return {"tool_choice": {"type": "function", "function": {"name": _named(choice, tools)}}}


def _named(choice: ResponsesToolChoice, tools: list[Json]) -> str:
    if choice.type not in OWN or all(one["function"]["name"] != choice.name for one in tools):
        raise InvalidField("tool_choice: the name of one of the tools is expected.", param="tool_choice.name")
    return choice.name
