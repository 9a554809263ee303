"""Engines that say what a test wants them to, whole or in pieces."""

from typing import Any

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall


def saying(message: dict[str, Any], *deltas: dict[str, Any], finish_reason: str = "stop") -> Behaviour:
    """A message, whole or in these pieces."""

    async def behave(call: EngineCall) -> None:
        if not call.json.get("stream"):
            answer = behaviours.chat_answer()
            choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
            call.whole(200, answer | {"choices": [choice]})
            return
        call.head(200, *behaviours.EVENT_STREAM)
        for delta in deltas:
            call.event(behaviours.chat_event(None) | {"choices": [{"index": 0, "delta": delta}]})
        call.event(behaviours.chat_event(None, finish_reason=finish_reason))
        call.event({"id": "c", "choices": [], "usage": behaviours.usage(7, 9)})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


def calls(*named: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [
        {"index": place, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for place, (id, name, arguments) in enumerate(named)
    ]


def pieces(*named: tuple[str, str, str]) -> list[dict[str, Any]]:
    """The same, arguments in two pieces each."""
    found = []
    for place, (id, name, arguments) in enumerate(named):
        half = len(arguments) // 2
        first = {"index": place, "id": id, "function": {"name": name, "arguments": arguments[:half]}}
        found.append({"tool_calls": [first]})
        found.append({"tool_calls": [{"index": place, "function": {"arguments": arguments[half:]}}]})
    return found
