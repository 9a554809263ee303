"""Anthropic's turns and tools as OpenAI's. What no engine can be told is refused by its path, or noted."""

from collections.abc import Iterator
from typing import Any, Final

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects.anthropic_fields import (
    AnthropicBlock,
    AnthropicMessage,
    AnthropicPromptFields,
    AnthropicTool,
    AnthropicToolChoice,
)
from heterodyne.gateway.dialects.chat_turns import asked_turn, call_of, said_turn
from heterodyne.gateway.dialects.not_carried import NotCarried

Json = dict[str, Any]

CHOICES: Final = {"auto": "auto", "any": "required", "none": "none"}
PICTURES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")


def chat_messages(fields: AnthropicPromptFields, lost: NotCarried) -> list[Json]:
    """The conversation, with what the system says first."""
    messages: list[Json] = []
    system = _texts(fields.system, "system", lost)
    if system:
        messages.append({"role": "system", "content": system})
    called: set[str] = set()
    for number, message in enumerate(fields.messages):
        path = f"messages[{number}].content"
        if message.role == "assistant":
            messages.append(_assistant(message, path, called, lost))
        else:
            messages += _user(message, path, called, lost)
    return messages


def chat_tools(tools: list[AnthropicTool], lost: NotCarried) -> list[Json]:
    """The client's own. Those that Anthropic runs are nowhere else: beside others they are named in the answer, as
    the model can do without; alone they are what was asked for, and refused."""
    found = []
    has_own = any(tool.input_schema is not None for tool in tools)
    for number, tool in enumerate(tools):
        if tool.type != "custom" or tool.input_schema is None:
            path = f"tools[{number}].type"
            if not has_own:
                raise InvalidField(
                    f"{path}: {tool.type!r} is run by Anthropic; only tools with an `input_schema` are known here.",
                    param=path,
                )
            lost.note(path, is_set=True)
            continue
        lost.note("tools.cache_control", is_set=tool.cache_control is not None)
        function: Json = {"name": tool.name, "parameters": tool.input_schema}
        if tool.description:
            function["description"] = tool.description
        if tool.strict is not None:
            function["strict"] = tool.strict
        found.append({"type": "function", "function": function})
    return found


def chat_tool_choice(choice: AnthropicToolChoice) -> Json:
    """The members of OpenAI's body that say the same."""
    said: Json = {}
    if choice.type == "tool":
        if not choice.name:
            raise InvalidField("tool_choice.name: the tool to call is expected.", param="tool_choice.name")
        said["tool_choice"] = {"type": "function", "function": {"name": choice.name}}
    else:
        said["tool_choice"] = CHOICES[choice.type]
    if choice.disable_parallel_tool_use:
        said["parallel_tool_calls"] = False
    return said


def _assistant(message: AnthropicMessage, path: str, called: set[str], lost: NotCarried) -> Json:
    if isinstance(message.content, str):
        return {"role": "assistant", "content": message.content}
    texts, thoughts, calls = [], [], []
    for number, block in enumerate(message.content):
        where = f"{path}[{number}]"
        _note_block(block, lost)
        match block.type:
            case "text":
                texts.append(block.text)
            case "thinking":
                thoughts.append(block.thinking)
                lost.note("messages.content.signature", is_set=bool(block.signature))
            case "tool_use":
                called.add(block.id)
                calls.append(call_of(block.id, block.name, block.input))
            case _:
                raise _unknown(block, where)
    return said_turn(texts, thoughts, calls)


def _user(message: AnthropicMessage, path: str, called: set[str], lost: NotCarried) -> Iterator[Json]:
    """Results of tools are messages of their own, before what the user says to them."""
    if isinstance(message.content, str):
        yield {"role": "user", "content": message.content}
        return
    parts: list[Json] = []
    for number, block in enumerate(message.content):
        where = f"{path}[{number}]"
        _note_block(block, lost)
        match block.type:
            case "text":
                parts.append({"type": "text", "text": block.text})
            case "image":
                parts.append({"type": "image_url", "image_url": {"url": _picture(block, where)}})
            case "tool_result":
                if parts:
                    raise InvalidField(f"{where}: results of tools come before anything else.", param=where)
                if block.tool_use_id not in called:
                    raise InvalidField(
                        f"{where}.tool_use_id: no earlier `tool_use` has the id {block.tool_use_id[:100]!r}.",
                        param=f"{where}.tool_use_id",
                    )
                yield _result(block, where, lost)
            case _:
                raise _unknown(block, where)
    if parts:
        yield asked_turn(parts)


def _result(block: AnthropicBlock, where: str, lost: NotCarried) -> Json:
    lost.note("messages.content.is_error", is_set=block.is_error)
    text = _texts(block.content or "", f"{where}.content", lost)
    return {"role": "tool", "tool_call_id": block.tool_use_id, "content": text}


def _texts(content: str | list[AnthropicBlock], path: str, lost: NotCarried) -> str:
    """Words alone."""
    if isinstance(content, str):
        return content
    for number, block in enumerate(content):
        _note_block(block, lost)
        if block.type != "text":
            raise _unknown(block, f"{path}[{number}]")
    return "\n".join(block.text for block in content)


def _picture(block: AnthropicBlock, where: str) -> str:
    source = block.source
    if source is None:
        raise InvalidField(f"{where}.source: where the picture is, is expected.", param=f"{where}.source")
    if source.type == "url":
        return source.url
    if source.type != "base64" or source.media_type not in PICTURES:
        raise InvalidField(
            f"{where}.source: a `url`, or `base64` of {', '.join(PICTURES)}, is expected.", param=f"{where}.source"
        )
    return f"data:{source.media_type};base64,{source.data}"


def _note_block(block: AnthropicBlock, lost: NotCarried) -> None:
    lost.note("messages.content.cache_control", is_set=block.cache_control is not None)
    lost.note("messages.content.citations", is_set=bool(block.citations))


def _unknown(block: AnthropicBlock, where: str) -> InvalidField:
    return InvalidField(
        f"{where}.type: a block of type {block.type!r} cannot be told to the engines here.", param=f"{where}.type"
    )
