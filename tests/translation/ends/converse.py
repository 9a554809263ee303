"""Amazon's Converse, as an engine reads and says it."""

import asyncio
import json
from typing import Final
from urllib.parse import quote

from heterodyne.testing.amazon_events import STREAM, amazon_event
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support.converse import check_shape
from tests.support.requests import MODEL
from tests.translation.drawing import Drawing
from tests.translation.meant import Asked, Called, Json, Part, Said, Tool, Turn, Wanted, result_of

FINISHES: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}


class ConverseEnd:
    """What is asked is held to the shapes that botocore has of it."""

    def path(self, *, stream: bool) -> str:
        return f"/model/{quote(MODEL, safe='')}/{'converse-stream' if stream else 'converse'}"

    def asked_of(self, body: bytes) -> Asked:
        check_shape("Converse", body)
        return asked_of(body)

    def saying(self, said: Said, drawing: Drawing) -> Behaviour:
        async def behave(call: EngineCall) -> None:
            if call.path.endswith("/converse"):
                call.whole(200, whole(said, drawing))
            else:
                send(call, *events(said, drawing))

        return behave

    def talking(self) -> Behaviour:
        async def behave(call: EngineCall) -> None:
            begin(call, 1)
            while not call.was_cancelled:
                call.chunk(word("hello"))
                await asyncio.sleep(0.01)

        return behave

    def breaking(self) -> Behaviour:
        async def behave(call: EngineCall) -> None:
            begin(call, 2)
            await asyncio.sleep(0.02)
            call.reset()

        return behave

    def refusing(self, status: int, message: str) -> Behaviour:
        async def behave(call: EngineCall) -> None:
            call.whole(status, {"message": message})

        return behave


def whole(said: Said, drawing: Drawing) -> Json:
    """A whole answer."""
    content: list[Json] = []
    if said.thoughts:
        content.append({"reasoningContent": {"reasoningText": {"text": said.thoughts}}})
    if said.text:
        content.append({"text": said.text})
    calls = [{"toolUseId": one.id, "name": one.name, "input": one.arguments} for one in said.calls]
    content += [{"toolUse": call} for call in calls]
    message = {"role": "assistant", "content": content}
    output = {"output": {"message": message}, "stopReason": FINISHES[said.finish], "metrics": {"latencyMs": 1}}
    return output | {"usage": usage(said)}


def usage(said: Said) -> Json:
    """Those of the cache are not among the others."""
    fresh = said.prompt_tokens - said.cached_tokens
    total = said.prompt_tokens + said.completion_tokens
    told = {"inputTokens": fresh, "outputTokens": said.completion_tokens, "totalTokens": total}
    return told | {"cacheReadInputTokens": said.cached_tokens, "cacheWriteInputTokens": 0}


def events(said: Said, drawing: Drawing) -> list[bytes]:
    """A stream, its blocks in pieces."""
    found = [amazon_event("messageStart", {"role": "assistant"})]
    blocks: list[tuple[Json | None, list[Json]]] = []
    if said.thoughts:
        blocks.append((None, [{"reasoningContent": {"text": one}} for one in drawing.pieces(said.thoughts)]))
    if said.text:
        blocks.append((None, [{"text": one} for one in drawing.pieces(said.text)]))
    for call in said.calls:
        start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
        pieces = drawing.pieces(drawing.json(call.arguments)) if call.arguments else []
        blocks.append((start, [{"toolUse": {"input": one}} for one in pieces]))
    for index, (begun, deltas) in enumerate(blocks):
        place = {"contentBlockIndex": index}
        if begun is not None:
            found.append(amazon_event("contentBlockStart", {"start": begun} | place))
        found += [amazon_event("contentBlockDelta", {"delta": delta} | place) for delta in deltas]
        found.append(amazon_event("contentBlockStop", place))
    found.append(amazon_event("messageStop", {"stopReason": FINISHES[said.finish]}))
    found.append(amazon_event("metadata", {"usage": usage(said), "metrics": {"latencyMs": 1}}))
    return found


def word(text: str) -> bytes:
    return amazon_event("contentBlockDelta", {"delta": {"text": text}, "contentBlockIndex": 0})


def begin(call: EngineCall, words: int) -> None:
    """The head of a stream, and so many words of it."""
    call.head(200, *STREAM)
    call.chunk(amazon_event("messageStart", {"role": "assistant"}) + word(" hello") * words)


def send(call: EngineCall, *messages: bytes) -> None:
    """All of a stream, cut where no message ends."""
    call.head(200, *STREAM)
    stream = b"".join(messages)
    for start in range(0, len(stream), 97):
        call.chunk(stream[start : start + 97])
    call.write(b"0\r\n\r\n")


def asked_of(body: bytes) -> Asked:
    """The meaning of what the engine got."""
    asked = json.loads(body)
    config, output = asked.get("toolConfig", {}), asked.get("outputConfig", {})
    inference = asked.get("inferenceConfig", {})
    wanted = output.get("textFormat", {}).get("structure", {}).get("jsonSchema")
    return Asked(
        turns=tuple(turn for message in asked["messages"] for turn in _turns(message)),
        system="\n".join(one["text"] for one in asked.get("system", ())),
        max_tokens=inference.get("maxTokens", 0),
        tools=tuple(_tool(one["toolSpec"]) for one in config.get("tools", ())),
        choice=_choice(config.get("toolChoice", {})),
        wanted=wanted and Wanted(schema=json.loads(wanted["schema"]), description=wanted.get("description", "")),
        stops=tuple(inference.get("stopSequences", ())),
        effort=output.get("effort", ""),
    )


def _turns(message: Json) -> list[Turn]:
    """Results of tools are turns of their own; what a user says beside them is another."""
    if message["role"] == "assistant":
        return [_said(message["content"])]
    found: list[Turn] = []
    parts: list[Part] = []
    for block in message["content"]:
        if "toolResult" in block:
            result = block["toolResult"]
            text = "".join(one["text"] for one in result["content"])
            found.append(Turn(role="tool", parts=(Part(text=result_of(text)),), call_id=result["toolUseId"]))
        elif "image" in block:
            picture = block["image"]
            parts.append(Part(picture=f"data:image/{picture['format']};base64,{picture['source']['bytes']}"))
        else:
            parts.append(Part(text=block["text"]))
    return [*found, Turn(role="user", parts=tuple(parts))] if parts else found


def _said(blocks: list[Json]) -> Turn:
    calls = [one["toolUse"] for one in blocks if "toolUse" in one]
    thoughts = [one["reasoningContent"]["reasoningText"]["text"] for one in blocks if "reasoningContent" in one]
    return Turn(
        role="assistant",
        parts=tuple(Part(text=one["text"]) for one in blocks if "text" in one),
        thoughts="".join(thoughts),
        calls=tuple(Called(id=one["toolUseId"], name=one["name"], arguments=one["input"]) for one in calls),
    )


def _tool(spec: Json) -> Tool:
    return Tool(
        name=spec["name"],
        description=spec.get("description", ""),
        schema=spec["inputSchema"]["json"],
        is_strict=spec.get("strict"),
    )


def _choice(choice: Json) -> str:
    if "tool" in choice:
        return str(choice["tool"]["name"])
    return "required" if "any" in choice else ""
