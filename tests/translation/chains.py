"""What stands between a client and the engine at the end: a gateway, and for another maker's API a second one.

The first gateway asks the second in that maker's words, as it would the maker. The second reads them as it does those
of the maker's own clients, so that the engine at the end gets an OpenAI chat whatever stands between.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from tests.support.gateways import Rig, gateway_over
from tests.translation.drawing import Drawing
from tests.translation.meant import Json, Said

OPENAI = {"vllm": "/v1/chat/completions", "azure-openai": "/openai/v1/chat/completions"}  # and where it is asked
OTHERS = ("anthropic", "bedrock", "gemini")
ENGINES = (*OPENAI, *OTHERS)
BREAKS = {"continues_streams": False}  # a stream that breaks is seen to


@asynccontextmanager
async def chained(engine: str) -> AsyncIterator[tuple[Rig, str]]:
    """The rig with the engine at the end, and where clients ask."""
    if engine in OPENAI:
        async with gateway_over(behaviours.answer(), gateway=BREAKS, pool={"engine": engine}) as rig:
            yield rig, f"http://127.0.0.1:{rig.port}"
        return
    async with gateway_over(behaviours.answer(), gateway=BREAKS) as rig:
        pool: dict[str, Any] = {"engine": engine, "urls": (f"http://127.0.0.1:{rig.port}",)}
        async with gateway_over(gateway=BREAKS, pool=pool) as outer:
            yield rig, f"http://127.0.0.1:{outer.port}"


def path_of(engine: str) -> str:
    """Where the engine at the end is asked."""
    return OPENAI.get(engine, OPENAI["vllm"])


def say(engine: ScriptedEngine, said: Said, drawing: Drawing) -> None:
    """Let the engine say this, whole or in pieces that begin and end anywhere."""
    engine.behaviour = _saying(said, drawing)


def _saying(said: Said, drawing: Drawing) -> Behaviour:
    ending: Json = {"finish_reason": said.finish}
    if said.stop_text is not None:
        ending["stop_reason"] = said.stop_text

    async def behave(call: EngineCall) -> None:
        if not call.json.get("stream"):
            choice = {"index": 0, "message": _message(said, drawing), **ending}
            call.whole(200, behaviours.chat_answer() | {"choices": [choice], "usage": _usage(said)})
            return
        call.head(200, *behaviours.EVENT_STREAM)
        for delta in _deltas(said, drawing):
            call.event(behaviours.chat_event(None) | {"choices": [{"index": 0, "delta": delta}]})
        call.event(behaviours.chat_event(None) | {"choices": [{"index": 0, "delta": {}, **ending}]})
        call.event(behaviours.chat_event(None) | {"choices": [], "usage": _usage(said)})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


def _usage(said: Said) -> Json:
    return {
        **behaviours.usage(said.prompt_tokens, said.completion_tokens),
        "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
    }


def _message(said: Said, drawing: Drawing) -> Json:
    message: Json = {"role": "assistant", "content": said.text or None}
    if said.thoughts:
        message["reasoning_content"] = said.thoughts
    if said.calls:
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": drawing.json(one.arguments)}}
            for one in said.calls
        ]
    return message


def _deltas(said: Said, drawing: Drawing) -> list[Json]:
    found: list[Json] = [{"role": "assistant", "content": ""}]
    found += [{"reasoning_content": piece} for piece in drawing.pieces(said.thoughts)]
    found += [{"content": piece} for piece in drawing.pieces(said.text)]
    for place, one in enumerate(said.calls):
        function = {"name": one.name, "arguments": ""}
        found.append({"tool_calls": [{"index": place, "id": one.id, "type": "function", "function": function}]})
        found += [
            {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}
            for piece in drawing.pieces(drawing.json(one.arguments))
        ]
    return found
