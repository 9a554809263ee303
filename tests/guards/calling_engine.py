"""An engine that calls a tool whatever it is asked, in pieces where its answer streams."""

import asyncio

from heterodyne.testing.behaviours import EVENT_STREAM, chat_answer, chat_event, usage
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.guards.leaky_engine import PIECE

MEMBERS = {"function": "arguments", "custom": "input"}  # in which a call of each kind says what it is called with


def calling(name: str, arguments: str, *, words: str = "let me look ", kind: str = "function") -> Behaviour:
    """Some words, and then one call; one of a `custom` tool has any text for arguments."""
    member = MEMBERS[kind]

    async def behave(call: EngineCall) -> None:
        if not call.json.get("stream"):
            call.whole(200, _whole(name, arguments, words, kind))
            return
        call.head(200, *EVENT_STREAM)
        call.event(chat_event(words))
        _piece(call, {"id": "call_1", "type": kind, kind: {"name": name, member: ""}})
        for start in range(0, len(arguments), PIECE):
            await asyncio.sleep(0)
            if call.was_cancelled:
                return
            _piece(call, {kind: {member: arguments[start : start + PIECE]}})
        call.event(chat_event(None, finish_reason="tool_calls"))
        call.event({**chat_event(None), "choices": [], "usage": usage(7, 9)})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


def _piece(call: EngineCall, said: dict[str, object]) -> None:
    choice = {"index": 0, "delta": {"tool_calls": [{"index": 0, **said}]}, "finish_reason": None}
    call.event({**chat_event(None), "choices": [choice]})


def _whole(name: str, arguments: str, words: str, kind: str) -> dict[str, object]:
    made = {"id": "call_1", "type": kind, kind: {"name": name, MEMBERS[kind]: arguments}}
    message = {"role": "assistant", "content": words, "tool_calls": [made]}
    return {**chat_answer(words), "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
