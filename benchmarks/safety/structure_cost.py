"""What guards of structure cost: of a request with tools, of a call, and of a token that is streamed.

    python -m benchmarks.safety.structure_cost

Processor time, the best of several rounds, beside reading and writing the same JSON.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from benchmarks.safety.cost import PROMPT, microseconds, plan
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.request_check import check_request
from heterodyne.safety.request_guard import RequestGuard
from heterodyne.safety.settings import GuardSettings

TOOLS_COUNT: Final = 20
PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "where the file is, from the folder of the project"},
        "mode": {"enum": ["text", "bytes"]},
        "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    },
    "required": ["path"],
    "additionalProperties": False,
}
CALLS: Final = GuardSettings(
    guard="tool_calls",
    action="block",
    arguments_denied=(r"rm\s+-rf", r"(?i)drop\s+table"),
    roots_allowed=("/work",),
    hosts_allowed=("*.example.com",),
)
LENGTH: Final = GuardSettings(guard="length", action="block", prompt_chars_max=100_000, answer_chars_max=100_000)


def body(*, tools: int = TOOLS_COUNT) -> bytes:
    """A chat that offers tools."""
    offered = [
        {"type": "function", "function": {"name": f"read_{number}", "parameters": PARAMETERS}}
        for number in range(tools)
    ]
    return msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": PROMPT}], "tools": offered})


def answer(arguments: Any) -> bytes:
    """One that calls a tool."""
    call = {"id": "1", "type": "function", "function": {"name": "read_3", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return msgspec.json.encode({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """One of a stream."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return msgspec.json.encode({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "choices": [choice]})


def of_stream(policy: GuardSettings, events: list[bytes], request: bytes) -> float:
    """Of one event."""
    guards = plan(one=policy)
    guarded, _ = check_request(guards.input, request)

    def stream() -> None:
        guard = RequestGuard(guards, lambda _: None)
        guard.take(guarded)
        check = guard.stream_guard(1, "")
        for one in events:
            check(one)
            while check.owes:
                check.more()

    return microseconds(stream, times=5) / len(events)


def told(name: str, work: Callable[[], object], *, times: int, beside: bytes) -> None:
    """A line."""
    plain = microseconds(lambda: msgspec.json.encode(msgspec.json.decode(beside)), times=times)
    print(f"{name:<58} {microseconds(work, times=times):9.1f} µs   reading and writing alone {plain:7.1f}")


def main() -> None:
    """All of it."""
    request, guards = body(), plan(one=CALLS)
    expected = check_request(guards.input, request)[0].expected
    small = answer('{"path": "/work/src/main.py", "mode": "text", "lines": [1, 2, 3]}')
    told(f"request, {TOOLS_COUNT} tools", lambda: check_request(guards.input, request), times=300, beside=request)
    told(
        "whole answer, one call",
        lambda: check_answer(guards.output, NOTHING, small, expected=expected),
        times=300,
        beside=small,
    )
    for text in ('{"path": "' + "word " * 12_000 + '"}', '{"path": "a", "lines": [' + "1," * 30_000 + "1]}"):
        long = answer(text)
        work = partial(check_answer, guards.output, NOTHING, long, expected=expected)
        told(f"one call of {len(text)} characters {text[9:27]}…", work, times=3, beside=long)
    words = [event({"content": f" {word}"}) for word in PROMPT.split()]
    pieces = [event({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "read_3", "arguments": ""}}]})]
    pieces += [
        event({"tool_calls": [{"index": 0, "function": {"arguments": one}}]})
        for one in ('{"path": "', *"abcdefgh" * 10, '"}')
    ]
    pieces.append(event({}, "tool_calls"))
    print(f"streamed token of words, `tool_calls` blocks {of_stream(CALLS, words, request):6.2f} µs")
    print(f"streamed piece of a call, `tool_calls` blocks {of_stream(CALLS, pieces, request):6.2f} µs")
    print(f"streamed token of words, `length` blocks     {of_stream(LENGTH, words, request):6.2f} µs")


if __name__ == "__main__":
    main()
