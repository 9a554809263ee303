"""Pure: what an answer says, read from the bytes that its client got."""

from typing import Any, Final

import msgspec
from msgspec import Struct

ANSWER_BYTES_MAX: Final = 128 << 10  # of an answer that is read: what takes a millisecond or two of a worker's loop


class CalledTool(Struct, frozen=True):
    """One call that the model asks for."""

    name: str
    arguments: str  # JSON, where the model keeps to it


class Said(Struct, frozen=True, kw_only=True):
    """The first choice of an answer."""

    text: str = ""
    is_declined: bool = False  # its engine says that it is a refusal
    calls: tuple[CalledTool, ...] = ()


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(Struct):
    index: int | None = None
    function: _Function | None = None


class _Message(Struct):
    """Of a whole answer, or what one event adds to it."""

    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    index: int = 0
    message: _Message | None = None
    delta: _Message | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Answer(Struct):
    choices: list[_Choice] = []


_decode = msgspec.json.Decoder(_Answer).decode


def try_read_said(payload: bytes, *, is_stream: bool) -> Said | None:
    """None: nobody can read it, or it is too long to be."""
    if not payload or len(payload) > ANSWER_BYTES_MAX:
        return None
    try:
        if is_stream:
            parts = [one[5:].strip() for one in payload.split(b"\n\n") if one.startswith(b"data:")]
            answers = [_decode(part) for part in parts if part != b"[DONE]"]
        else:
            answers = [_decode(payload)]
    except (msgspec.DecodeError, RecursionError):
        return None
    choices = [choice for answer in answers for choice in answer.choices if choice.index == 0]
    return _joined(choices) if choices else None


def _joined(choices: list[_Choice]) -> Said:
    text: list[str] = []
    calls: dict[int, list[str]] = {}  # name and pieces of its arguments, by place
    is_declined = False
    for choice in choices:
        message = choice.message or choice.delta
        is_declined = is_declined or choice.finish_reason == "content_filter"
        if choice.text:
            text.append(choice.text)
        if message is None:
            continue
        is_declined = is_declined or bool(message.refusal)
        text.append(message.content or message.refusal or "")
        for place, call in enumerate(message.tool_calls or ()):
            _add_call(calls, place if call.index is None else call.index, call)
    called = tuple(CalledTool(name, "".join(pieces)) for _, (name, *pieces) in sorted(calls.items()))
    return Said(text="".join(text), is_declined=is_declined, calls=called)


def _add_call(calls: dict[int, list[str]], place: int, call: _Call) -> None:
    function = call.function or _Function()
    known = calls.setdefault(place, [""])
    known[0] += function.name or ""
    if function.arguments:
        known.append(function.arguments)


class _ToolFunction(Struct):
    name: str = ""
    parameters: dict[str, Any] | None = None


class _Tool(Struct):
    function: _ToolFunction | None = None


class _Asked(Struct):
    tools: list[_Tool] | None = None


_decode_asked = msgspec.json.Decoder(_Asked).decode


def tools_of(body: bytes) -> dict[str, dict[str, Any]]:
    """By name, the JSON schemas of the tools that a request offers."""
    tools = _decode_asked(body).tools or ()
    return {one.function.name: one.function.parameters or {} for one in tools if one.function is not None}
