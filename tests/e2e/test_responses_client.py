"""What a user of OpenAI's own client sees of the Responses API, of the embedded model and of scripted engines."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from heterodyne.admission.callers import LOCAL
from heterodyne.ports.document_store import Document
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from heterodyne.testing.serve_process import ServeProcess
from tests.support import requests
from tests.support.gateways import Rig, gateway_over
from tests.support.scripted_chats import calls, pieces, saying

CHAT = "smollm2-135m"
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": True,
}
SHELL: Any = {"type": "custom", "name": "shell", "description": "Runs what it is told."}


@pytest.fixture(scope="module")
def embedded(served: ServeProcess) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0, timeout=100) as client:
        yield client


def test_the_embedded_model_answers_and_is_asked_for_again(embedded: OpenAI) -> None:
    first = embedded.responses.create(model=CHAT, input="Say hello.", max_output_tokens=4, temperature=0)
    assert (first.object, first.status, first.model) == ("response", "incomplete", CHAT)
    assert first.incomplete_details is not None
    assert first.incomplete_details.reason == "max_output_tokens"
    assert first.output_text
    assert first.usage is not None
    assert first.usage.output_tokens == 4
    again = embedded.responses.retrieve(first.id)
    assert again.to_dict() == first.to_dict()
    second = embedded.responses.create(
        model=CHAT, input="And again.", previous_response_id=first.id, max_output_tokens=4, temperature=0
    )
    assert second.usage is not None
    assert second.usage.input_tokens > first.usage.input_tokens + 4, "it was shown what it follows"
    asked = [one.to_dict() for one in embedded.responses.input_items.list(second.id, order="asc")]
    assert [one.get("role") for one in asked] == ["user", "assistant", "user"]
    embedded.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        embedded.responses.retrieve(first.id)
    with pytest.raises(openai.BadRequestError, match="previous_response_id"):
        embedded.responses.create(model=CHAT, input="More.", previous_response_id=second.id)


def test_the_embedded_model_streams_what_it_answers(embedded: OpenAI) -> None:
    asked: dict[str, Any] = {"model": CHAT, "input": "Say hello.", "max_output_tokens": 12, "temperature": 0}
    whole = embedded.responses.create(**asked)
    with embedded.responses.stream(**asked) as stream:
        events = list(stream)
    response = events[-1].response  # type: ignore[union-attr]  # the last has it
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = list(dict.fromkeys(event.type for event in events))
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        f"response.{whole.status}",
    ]
    assert response.output_text == whole.output_text
    assert response.usage is not None
    assert whole.usage is not None
    assert response.usage.output_tokens == whole.usage.output_tokens
    assert embedded.responses.retrieve(response.id).output_text == whole.output_text


@asynccontextmanager
async def asking(tmp_path: Path, *engines: Behaviour, **settings: Any) -> AsyncIterator[tuple[Rig, AsyncOpenAI]]:
    stores = {"url": f"sqlite:{tmp_path / 'documents.db'}"}
    async with (
        gateway_over(*engines, stores=stores, **settings) as rig,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key="none", max_retries=0, timeout=30) as client,
    ):
        yield rig, client


async def both(client: AsyncOpenAI, **asked: Any) -> list[Any]:
    """Asked whole, and as a stream that the client puts together."""
    whole = await client.responses.create(**asked)
    async with client.responses.stream(**asked) as stream:
        numbers = [event.sequence_number async for event in stream]
        streamed = await stream.get_final_response()
    assert numbers == list(range(len(numbers)))
    return [whole, streamed]


async def test_tools_are_called_side_by_side_and_answered(tmp_path: Path) -> None:
    wanted = (("call_1", "weather", '{"city": "Graz"}'), ("call_2", "weather", '{"city": "Rio"}'))
    engine = saying({"tool_calls": calls(*wanted)}, *pieces(*wanted), finish_reason="tool_calls")
    async with asking(tmp_path, engine) as (rig, client):
        for response in await both(client, model=requests.MODEL, input="Where is sun?", tools=[WEATHER]):
            called = [(one.type, one.call_id, one.name, one.arguments) for one in response.output]
            assert called == [("function_call", *one) for one in wanted]
            assert response.status == "completed"
            results: Any = [
                {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
                {
                    "type": "function_call_output",
                    "call_id": "call_2",
                    "output": [{"type": "input_text", "text": "wet"}],
                },
            ]
            await client.responses.create(
                model=requests.MODEL, input=results, tools=[WEATHER], previous_response_id=response.id
            )
            sent = json.loads(rig.engine.calls[-1].body)["messages"]
            assert [one["role"] for one in sent] == ["user", "assistant", "tool", "tool"]
            assert [one["id"] for one in sent[1]["tool_calls"]] == ["call_1", "call_2"]
            assert [one["content"] for one in sent[2:]] == ["sunny", "wet"]


async def test_a_tool_of_any_text_is_called_with_text(tmp_path: Path) -> None:
    wanted = ("call_1", "shell", '{"input": "ls \\"a\\""}')
    engine = saying({"tool_calls": calls(wanted)}, *pieces(wanted), finish_reason="tool_calls")
    async with asking(tmp_path, engine) as (rig, client):
        for response in await both(client, model=requests.MODEL, input="List.", tools=[SHELL]):
            [call] = response.output
            assert (call.type, call.name, call.input) == ("custom_tool_call", "shell", 'ls "a"')
            result: Any = [{"type": "custom_tool_call_output", "call_id": "call_1", "output": "a"}]
            await client.responses.create(model=requests.MODEL, input=result, previous_response_id=response.id)
            sent = json.loads(rig.engine.calls[-1].body)["messages"]
            assert json.loads(sent[1]["tool_calls"][0]["function"]["arguments"]) == {"input": 'ls "a"'}


async def test_tools_of_a_namespace_are_called_by_their_names_there(tmp_path: Path) -> None:
    wanted = (("call_1", "crm__find", '{"name": "Ada"}'), ("call_2", "crm__note", '{"input": "hi"}'))
    engine = saying({"tool_calls": calls(*wanted)}, *pieces(*wanted), finish_reason="tool_calls")
    crm: Any = {"type": "namespace", "name": "crm", "description": "Customers."}
    crm["tools"] = [{**WEATHER, "name": "find"}, {**SHELL, "name": "note"}]
    async with asking(tmp_path, engine) as (rig, client):
        for response in await both(client, model=requests.MODEL, input="Who?", tools=[crm, {"type": "web_search"}]):
            named = json.loads(rig.engine.calls[0].body)["tools"]
            assert [one["function"]["name"] for one in named] == ["crm__find", "crm__note"]
            find, note = response.output
            assert (find.type, find.namespace, find.name, find.arguments) == (
                "function_call",
                "crm",
                "find",
                wanted[0][2],
            )
            assert (note.type, note.namespace, note.name, note.input) == ("custom_tool_call", "crm", "note", "hi")
            results: Any = [
                {"type": "function_call_output", "call_id": "call_1", "output": "a"},
                {"type": "custom_tool_call_output", "call_id": "call_2", "output": "b"},
            ]
            await client.responses.create(model=requests.MODEL, input=results, previous_response_id=response.id)
            said = json.loads(rig.engine.calls[-1].body)["messages"][1]["tool_calls"]
            assert [one["function"]["name"] for one in said] == ["crm__find", "crm__note"]


async def test_what_is_newer_than_this_gateway_is_named_in_the_answer(tmp_path: Path) -> None:
    async with asking(tmp_path, saying({"content": "x"})) as (_, client):
        newer: Any = {"client_metadata": {"a": "b"}, "new_hint": 1}
        tools: Any = [WEATHER, {"type": "web_search"}]
        answer = await client.responses.with_raw_response.create(
            model=requests.MODEL, input="x", tools=tools, extra_body=newer
        )
        assert answer.headers["x-heterodyne-not-carried"] == "client_metadata, new_hint, tools[1].type"


async def test_thoughts_are_kept_and_passed_on_with_and_without_a_store(tmp_path: Path) -> None:
    engine = saying(
        {"reasoning_content": "Let me see.", "content": "Four."},
        {"reasoning_content": "Let me "},
        {"reasoning_content": "see."},
        {"content": "Fo"},
        {"content": "ur."},
    )
    async with asking(tmp_path, engine) as (rig, client):
        for response in await both(client, model=requests.MODEL, input="2 + 2?"):
            thoughts, words = response.output
            assert (thoughts.type, thoughts.content[0].text) == ("reasoning", "Let me see.")
            assert words.content[0].text == "Four."
            await client.responses.create(model=requests.MODEL, input="Why?", previous_response_id=response.id)
            told = json.loads(rig.engine.calls[-1].body)["messages"]
            assert told[1] == {"role": "assistant", "content": "Four.", "reasoning_content": "Let me see."}
        alone: Any = {"model": requests.MODEL, "store": False, "include": ["reasoning.encrypted_content"]}
        for response in await both(client, **alone, input="2 + 2?"):
            carried: Any = [one.to_dict() for one in response.output]
            carried[0].pop("content")
            question = {"role": "user", "content": "Why?"}
            await client.responses.create(**alone, input=[{"role": "user", "content": "2 + 2?"}, *carried, question])
            assert json.loads(rig.engine.calls[-1].body)["messages"] == told
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(response.id)


class City(BaseModel):
    name: str
    people: int


async def test_answers_of_a_schema_are_parsed(tmp_path: Path) -> None:
    said = '{"name": "Graz", "people": 300000}'
    async with asking(tmp_path, saying({"content": said}, {"content": said})) as (rig, client):
        parsed = await client.responses.parse(model=requests.MODEL, input="A city.", text_format=City)
        assert parsed.output_parsed == City(name="Graz", people=300000)
        wanted = json.loads(rig.engine.calls[-1].body)["response_format"]
        assert wanted["type"] == "json_schema"
        assert wanted["json_schema"]["schema"]["required"] == ["name", "people"]
        async with client.responses.stream(model=requests.MODEL, input="A city.", text_format=City) as stream:
            assert (await stream.get_final_response()).output_parsed == parsed.output_parsed


async def test_pictures_instructions_and_limits_reach_the_engine(tmp_path: Path) -> None:
    picture = "data:image/png;base64,iVBORw0KGgo="
    asked: Any = [
        {"role": "developer", "content": "Answer in German."},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": picture}],
        },
    ]
    async with asking(tmp_path, saying({"content": "Nichts."})) as (rig, client):
        response = await client.responses.with_raw_response.create(
            model=requests.MODEL,
            instructions="Be brief.",
            input=asked,
            max_output_tokens=9,
            top_p=0.5,
            reasoning={"effort": "low"},
            text={"verbosity": "low"},
            metadata={"a": "b"},
        )
        sent = json.loads(rig.engine.calls[-1].body)
    assert sent["messages"][0] == {"role": "system", "content": "Be brief.\n\nAnswer in German."}
    assert sent["messages"][1]["content"][1] == {"type": "image_url", "image_url": {"url": picture}}
    assert (sent["max_tokens"], sent["top_p"], sent["reasoning_effort"]) == (9, 0.5, "low")
    assert response.headers["x-heterodyne-not-carried"] == "text.verbosity"
    told = response.parse()
    assert (told.instructions, told.metadata, told.max_output_tokens) == ("Be brief.", {"a": "b"}, 9)


@pytest.mark.parametrize("words", [3, 40_000], ids=["short", "long"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_conversation_that_is_too_long_is_cut_where_that_is_wished(
    tmp_path: Path, words: int, *, stream: bool
) -> None:
    said = saying({"content": "Hi."}, {"content": "Hi."})

    async def narrow(call: EngineCall) -> None:
        if len(call.json["messages"]) > 4:
            message = "This model's maximum context length is 40 tokens."
            call.whole(400, {"error": {"message": message, "code": "context_length_exceeded"}})
        else:
            await said(call)

    turns: Any = [{"role": "user", "content": f"{number} " + "word " * words} for number in range(12)]
    asked: Any = {"model": requests.MODEL, "instructions": "Be brief.", "input": turns}
    async with asking(tmp_path, narrow) as (rig, client):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.responses.create(**asked)
        assert refused.value.code == "context_length_exceeded"
        rig.engine.calls.clear()
        if stream:
            async with client.responses.stream(**asked, truncation="auto") as events:
                answer: Any = await events.get_final_response()
        else:
            answer = await client.responses.create(**asked, truncation="auto")
        assert (answer.output_text, answer.truncation) == ("Hi.", "auto")
        sent = json.loads(rig.engine.calls[-1].body)["messages"]
        assert (sent[0]["role"], sent[-1]["content"][:3]) == ("system", "11 ")
        assert 2 <= len(sent) <= 4
        assert len(rig.engine.calls) <= 6, "each time it is shorter by a third"
        kept = [item async for item in client.responses.input_items.list(answer.id)]
        assert len(kept) == 12, "what was asked is kept whole"


def test_tokens_of_a_turn_are_counted_with_what_it_follows(embedded: OpenAI) -> None:
    alone = embedded.responses.input_tokens.count(model=CHAT, input="Say hello.")
    assert (alone.object, alone.input_tokens > 3) == ("response.input_tokens", True)
    first = embedded.responses.create(model=CHAT, input="Say hello.", max_output_tokens=4, temperature=0)
    assert first.usage is not None
    assert first.usage.input_tokens == alone.input_tokens
    longer = embedded.responses.input_tokens.count(model=CHAT, input="Go on.", previous_response_id=first.id)
    assert longer.input_tokens > alone.input_tokens + 4


async def test_a_stream_that_breaks_has_failed(tmp_path: Path) -> None:
    async with asking(tmp_path, behaviours.stream_then(tokens=2)) as (_, client):
        stream = await client.responses.create(model=requests.MODEL, input="Go.", stream=True)
        events = [event async for event in stream]
    assert events[-1].type == "response.failed"
    assert events[-1].response.error is not None
    assert events[-1].response.error.code == "server_error"


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"input": [{"type": "function_call_output", "call_id": "x", "output": "y"}]}, "input[0].call_id"),
        ({"input": [{"type": "web_search_call", "id": "x"}]}, "input[0].type"),
        ({"input": "x", "tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"input": "x", "prompt": {"id": "pmpt_1"}}, "prompt"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]}]},
            "input[0].content[0]",
        ),
        ({"input": "x", "previous_response_id": "resp_none"}, "previous_response_id"),
        ({"input": "x", "previous_response_id": "a", "conversation": "b"}, "conversation"),
        ({"input": 5}, "input"),
        ({"input": 5, "previous_response_id": "resp_none"}, "input"),
        ({"input": "x", "tool_choice": {"type": "function", "name": "y"}, "tools": [WEATHER]}, "tool_choice.name"),
        ({"input": []}, "input"),
        ({"input": "x", "stop": ["y"]}, "stop"),
        ({"input": "x", "max_tokens": 9}, "max_tokens"),
    ],
)
async def test_what_cannot_be_done_is_refused_by_its_place(tmp_path: Path, asked: dict[str, Any], where: str) -> None:
    async with asking(tmp_path, saying({"content": "x"})) as (rig, client):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.post("/responses", body={"model": requests.MODEL, **asked}, cast_to=object)
    assert refused.value.param == where
    assert not rig.engine.calls


async def test_turns_are_not_compacted_and_the_refusal_says_what_to_do(tmp_path: Path) -> None:
    async with asking(tmp_path, behaviours.answer()) as (rig, client):
        with pytest.raises(openai.NotFoundError, match="truncation") as refused:
            await client.responses.compact(model=requests.MODEL, input="Go.")
        assert refused.value.code == "unknown_path"
        compacted: Any = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
        with pytest.raises(openai.BadRequestError, match="compaction") as unknown:
            await client.responses.create(model=requests.MODEL, input=[compacted, {"role": "user", "content": "Go."}])
        assert unknown.value.param == "input[0].type"
        assert not rig.engine.calls


async def test_conversations_go_on_by_their_id(tmp_path: Path) -> None:
    async with asking(tmp_path, saying({"content": "Good."}, {"content": "Good."})) as (rig, client):
        conversation = await client.conversations.create(
            items=[{"type": "message", "role": "user", "content": "My name is Ada."}], metadata={"a": "b"}
        )
        for said in ("One.", "Two."):
            answers = await both(client, model=requests.MODEL, input=said, conversation=conversation.id)
            assert [one.conversation.id for one in answers] == [conversation.id] * 2
        sent = json.loads(rig.engine.calls[-1].body)["messages"]
        texts = [one["content"] if isinstance(one["content"], str) else one["content"][0]["text"] for one in sent]
        assert texts == ["My name is Ada.", "One.", "Good.", "One.", "Good.", "Two.", "Good.", "Two."]
        items = [one async for one in client.conversations.items.list(conversation.id, limit=4, order="asc")]
        assert len(items) == 9
        one = await client.conversations.items.retrieve(items[0].id, conversation_id=conversation.id)
        assert one.to_dict() == items[0].to_dict()
        await client.conversations.items.delete(items[0].id, conversation_id=conversation.id)
        changed = await client.conversations.update(conversation.id, metadata={"c": "d"})
        assert changed.metadata == {"c": "d"}
        added: Any = [{"type": "message", "role": "user", "content": "Three."}]
        await client.conversations.items.create(conversation.id, items=added)
        assert (await client.conversations.retrieve(conversation.id)).metadata == {"c": "d"}
        await client.conversations.delete(conversation.id)
        with pytest.raises(openai.NotFoundError):
            await client.conversations.items.list(conversation.id)
        with pytest.raises(openai.NotFoundError):
            await client.responses.create(model=requests.MODEL, input="x", conversation=conversation.id)


async def test_chats_are_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    engine = saying({"content": "Hello."}, {"role": "assistant", "content": "Hel"}, {"content": "lo."})
    asked: Any = {"model": requests.MODEL, "messages": [{"role": "user", "content": "Hi."}]}
    async with asking(tmp_path, engine) as (_, client):
        await client.chat.completions.create(**asked)
        assert [one async for one in client.chat.completions.list()] == []
        whole = await client.chat.completions.create(**asked, store=True, metadata={"a": "1"})
        ids, text = set(), ""
        async for chunk in await client.chat.completions.create(**asked, store=True, stream=True, metadata={"a": "2"}):
            ids.add(chunk.id)
            text += chunk.choices[0].delta.content or "" if chunk.choices else ""
        assert (len(ids), text) == (1, "Hello.")
        listed = [one async for one in client.chat.completions.list(limit=1)]
        assert [one.id for one in listed] == [whole.id, *ids]
        assert [one.choices[0].message.content for one in listed] == ["Hello.", "Hello."]
        assert [one.id async for one in client.chat.completions.list(metadata={"a": "2"})] == list(ids)
        assert [one.id async for one in client.chat.completions.list(model="other")] == []
        changed = await client.chat.completions.update(whole.id, metadata={"a": "3"})
        assert (changed.metadata, changed.id) == ({"a": "3"}, whole.id)
        asked_before = [one async for one in client.chat.completions.messages.list(whole.id)]
        assert [(one.role, one.content) for one in asked_before] == [("user", "Hi.")]
        assert (await client.chat.completions.delete(whole.id)).deleted
        with pytest.raises(openai.NotFoundError):
            await client.chat.completions.retrieve(whole.id)


async def until(client: AsyncOpenAI, response_id: str) -> Any:
    async with asyncio.timeout(60):
        while (found := await client.responses.retrieve(response_id)).status in ("queued", "in_progress"):
            await asyncio.sleep(0.05)
    return found


async def test_what_runs_in_the_background_is_there_when_it_is_done(tmp_path: Path) -> None:
    async with asking(tmp_path, saying({"content": "Done."})) as (rig, client):
        first = await client.responses.create(model=requests.MODEL, input="Go.", background=True, instructions="Slow.")
        assert (first.status, first.background, first.output) == ("queued", True, [])
        done = await until(client, first.id)
        assert (done.status, done.output_text, done.instructions) == ("completed", "Done.", "Slow.")
        again = await client.responses.create(
            model=requests.MODEL, input="More.", previous_response_id=first.id, background=True
        )
        assert (await until(client, again.id)).output_text == "Done."
        assert len(json.loads(rig.engine.calls[-1].body)["messages"]) == 3
        cancelled = await client.responses.cancel(first.id)
        assert cancelled.status == "completed", "what is done stays done"
        at_once = await client.responses.create(model=requests.MODEL, input="Now.")
        with pytest.raises(openai.BadRequestError, match="background"):
            await client.responses.cancel(at_once.id)
        await rig.wait_empty()


async def test_what_runs_in_the_background_can_be_cancelled(tmp_path: Path) -> None:
    async def sleeping(call: EngineCall) -> None:
        await asyncio.sleep(60)

    async with asking(tmp_path, sleeping) as (rig, client):
        first = await client.responses.create(model=requests.MODEL, input="Go.", background=True)
        async with asyncio.timeout(30):
            while not rig.engine.calls:
                await asyncio.sleep(0.01)
        assert (await client.responses.cancel(first.id)).status == "cancelled"
        await rig.wait_empty()
        assert (await client.responses.retrieve(first.id)).status == "cancelled"


async def test_what_fails_in_the_background_says_why(tmp_path: Path) -> None:
    async with asking(tmp_path, behaviours.refuse(400, "no such thing")) as (_, client):
        first = await client.responses.create(model=requests.MODEL, input="Go.", background=True)
        failed = await until(client, first.id)
        assert (failed.status, failed.error.code) == ("failed", "invalid_prompt")
        assert "no such thing" in failed.error.message
        other = await client.responses.create(model="no-such-model", input="Go.", background=True)
        assert "no-such-model" in (await until(client, other.id)).error.message
        for wrong, where in (({"store": False}, "store"),):
            body = {"model": requests.MODEL, "input": "x", "background": True, **wrong}
            with pytest.raises(openai.BadRequestError) as refused:
                await client.post("/responses", body=body, cast_to=object)
            assert refused.value.param == where


async def test_an_answer_that_cannot_be_kept_is_still_an_answer_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "documents.db").mkdir()  # no file can be there
    async with asking(tmp_path, saying({"content": "Hi."}, {"content": "Hi."})) as (_, client):
        for response in await both(client, model=requests.MODEL, input="Go."):
            assert (response.output_text, response.to_dict()["store"]) == ("Hi.", False)
        with pytest.raises(openai.InternalServerError):
            await client.responses.create(model=requests.MODEL, input="x", previous_response_id="resp_1")
        with pytest.raises(openai.InternalServerError):
            await client.responses.create(model=requests.MODEL, input="x", background=True)


async def test_more_than_a_model_can_be_shown_is_refused_before_it_is_read(tmp_path: Path) -> None:
    limits = {"body_bytes_max": 20_000}
    async with asking(tmp_path, saying({"content": "Hi."}), gateway=limits) as (_, client):
        first = await client.responses.create(model=requests.MODEL, input="x" * 15_000)
        with pytest.raises(openai.APIStatusError) as refused:
            await client.responses.create(model=requests.MODEL, input="x" * 15_000, previous_response_id=first.id)
        assert refused.value.status_code == 413
        conversation = await client.conversations.create()
        for _ in range(2):
            said: Any = [{"type": "message", "role": "user", "content": "x" * 15_000}]
            await client.conversations.items.create(conversation.id, items=said)
        with pytest.raises(openai.APIStatusError) as refused:
            await client.responses.create(model=requests.MODEL, input="x", conversation=conversation.id)
        assert refused.value.status_code == 413


async def test_what_a_dead_worker_ran_has_failed(tmp_path: Path) -> None:
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "background": True, "output": []}
    now = time.time()
    begun = Document(
        id="resp_1",
        project=LOCAL.project,
        kind="response",
        created_at=now - 3600,
        expires_at=now + 3600,
        body=json.dumps({"response": response, "input": [], "running_until": now - 1800}).encode(),
    )
    database = await SqliteDatabase.open(tmp_path / "documents.db")
    await documents_in(database).add([begun])
    await database.close()
    async with asking(tmp_path, saying({"content": "x"})) as (_, client):
        found = await client.responses.retrieve("resp_1")
        assert found.status == "failed"
        assert found.error is not None
        assert "has ended" in found.error.message
        with pytest.raises(openai.BadRequestError, match="not complete"):
            await client.responses.create(model=requests.MODEL, input="x", previous_response_id="resp_1")
        assert (await client.responses.cancel("resp_1")).status == "cancelled"
