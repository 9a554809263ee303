"""Anthropic's Messages: its answers, its event stream and its errors."""

from typing import Any, Final

import msgspec

from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.anthropic_stream import AnthropicStream
from heterodyne.gateway.forms.anthropic_words import error_of, message_id, stop_of, used
from heterodyne.gateway.forms.chat_answer import SaidCall, SaidMessage, arguments_of, read_chat, tokens_counted
from heterodyne.gateway.forms.form import ClientForm

Json = dict[str, Any]

_encode = msgspec.json.Encoder().encode


def error_body(error: HeterodyneError) -> bytes:
    """An error as its clients expect it."""
    return _encode(error_of(error))


def whole(request: Request, answer: bytes) -> bytes:
    """A message, or how many tokens a prompt has."""
    if request.operation is Operation.COUNT:
        return _encode({"input_tokens": tokens_counted(answer)})
    said = read_chat(answer)
    choice = next((one for one in said.choices if one.message is not None), None)
    if choice is None or choice.message is None:
        raise EngineGarbage("The engine's answer has no message.")
    return _encode(
        {
            "id": message_id(request),
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": _blocks(choice.message),
            **stop_of(choice),
            "usage": used(said.usage),
        }
    )


ANTHROPIC: Final = ClientForm(error_body, whole=whole, stream=AnthropicStream)


def _blocks(message: SaidMessage) -> list[Json]:
    blocks: list[Json] = []
    if message.thoughts:
        blocks.append({"type": "thinking", "thinking": message.thoughts, "signature": ""})
    text = message.content or message.refusal
    if text:
        blocks.append({"type": "text", "text": text})
    return blocks + [_call_block(call) for call in message.tool_calls or ()]


def _call_block(call: SaidCall) -> Json:
    function = call.function
    return {
        "type": "tool_use",
        "id": call.id or "",
        "name": function.name or "",
        "input": arguments_of(function),
    }
