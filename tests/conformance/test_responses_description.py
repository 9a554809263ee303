"""Responses, conversations and stored completions, held against the description that OpenAI publishes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from heterodyne.testing.scripted_engine import Behaviour
from tests.conformance.conftest import Check
from tests.support.gateways import gateway_over
from tests.support.requests import MODEL
from tests.support.scripted_chats import calls, pieces, saying

WEATHER: Any = {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}
SHELL: Any = {"type": "custom", "name": "shell"}
CALL = ("call_1", "weather", '{"city": "Graz"}')
TEXT_CALL = ("call_2", "shell", '{"input": "ls"}')
ENGINES: dict[str, Behaviour] = {
    "words": saying({"content": "Hello."}, {"content": "Hel"}, {"content": "lo."}),
    "thoughts": saying(
        {"reasoning_content": "Hm.", "content": "Yes."},
        {"reasoning_content": "H"},
        {"reasoning_content": "m."},
        {"content": "Yes."},
    ),
    "refusal": saying({"refusal": "No."}, {"refusal": "No."}),
    "calls": saying({"tool_calls": calls(CALL, TEXT_CALL)}, *pieces(CALL, TEXT_CALL), finish_reason="tool_calls"),
    "cut": saying({"content": "Hel"}, {"content": "Hel"}, finish_reason="length"),
    "nothing": saying({"content": ""}),
}


@asynccontextmanager
async def asking(tmp_path: Path, engine: Behaviour) -> AsyncIterator["Answers"]:
    async with (
        gateway_over(engine, stores={"url": f"sqlite:{tmp_path / 'documents.db'}"}) as rig,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key="none", max_retries=0, timeout=30) as client,
    ):
        yield Answers(client)


class Answers:
    """Answers as they come."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self.client = client

    async def get(self, path: str) -> Any:
        return await self.client.get(path, cast_to=object)

    async def post(self, path: str, body: object) -> Any:
        return await self.client.post(path, body=body, cast_to=object)

    async def delete(self, path: str) -> Any:
        return await self.client.delete(path, cast_to=object)


@pytest.mark.parametrize("name", list(ENGINES))
async def test_responses_and_their_events_are_as_described(tmp_path: Path, check: Check, name: str) -> None:
    asked: Any = {
        "model": MODEL,
        "input": "Hi.",
        "tools": [WEATHER, SHELL],
        "metadata": {"a": "b"},
        "include": ["reasoning.encrypted_content"],
    }
    async with asking(tmp_path, ENGINES[name]) as client:
        whole = await client.post("/responses", asked)
        check("Response", whole)
        check("Response", await client.get(f"/responses/{whole['id']}"))
        stream = await client.client.responses.create(**asked, stream=True, previous_response_id=whole["id"])
        events: list[Any] = [event.to_dict() async for event in stream]
        for event in events:
            check("ResponseStreamEvent", event)
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        told = events[-1]["response"]
        assert [item["type"] for item in told["output"]] == [item["type"] for item in whole["output"]]
        check("ResponseItemList", await client.get(f"/responses/{told['id']}/input_items"))
        left = await client.client.responses.create(**asked, stream=True, background=True)
        begun: list[Any] = [event.to_dict() async for event in left]
        for event in begun:
            check("ResponseStreamEvent", event)
        followed = await client.client.responses.retrieve(begun[0]["response"]["id"], stream=True)
        assert [event.to_dict() async for event in followed] == begun
        queued = await client.post("/responses", {**asked, "background": True})
        check("Response", queued)
        check("Response", (await client.post(f"/responses/{queued['id']}/cancel", {})))


async def test_conversations_are_as_described(tmp_path: Path, check: Check) -> None:
    items = [
        {"type": "message", "role": "user", "content": "Hi."},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Ho.", "annotations": [], "logprobs": []}],
        },
        {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "call_id": "c", "output": "x", "status": "completed"},
    ]
    async with asking(tmp_path, ENGINES["thoughts"]) as client:
        made = await client.post("/conversations", {"items": items[:1]})
        check("ConversationResource", made)
        place = f"/conversations/{made['id']}"
        check("ConversationResource", await client.get(place))
        check("ConversationItemList", await client.post(f"{place}/items", {"items": items[1:]}))
        await client.post("/responses", {"model": MODEL, "input": "Go on.", "conversation": made["id"]})
        listed = await client.get(f"{place}/items?order=asc")
        check("ConversationItemList", listed)
        assert len(listed["data"]) == 7
        check("ConversationItem", await client.get(f"{place}/items/{listed['first_id']}"))
        check("DeletedConversationResource", await client.delete(place))


async def test_stored_completions_are_as_described(tmp_path: Path, check: Check) -> None:
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "Hi."}], "store": True}
    async with asking(tmp_path, ENGINES["words"]) as client:
        made = await client.post("/chat/completions", asked)
        check("ChatCompletionList", await client.get("/chat/completions"))
        place = f"/chat/completions/{made['id']}"
        check("CreateChatCompletionResponse", await client.get(place))
        check("CreateChatCompletionResponse", await client.post(place, {"metadata": {"a": "b"}}))
        # Of messages the description knows only answers; the client's own tests are in tests/e2e.
        check("ChatCompletionDeleted", await client.delete(place))
