"""What a user of Anthropic's own client sees, of the embedded model and of engines that do as they are told."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from heterodyne.testing.serve_process import ServeProcess
from tests.support import requests
from tests.support.gateways import Rig, gateway_over
from tests.support.tenants import caller, tenants

CHAT = "smollm2-135m"
GREEDY = {"temperature": 0}
HELLO = [{"role": "user", "content": "Say hello."}]
TOOL = {
    "name": "weather",
    "description": "The weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@pytest.fixture(scope="module")
def embedded(served: ServeProcess) -> Iterator[Anthropic]:
    with Anthropic(base_url=served.url, api_key="none", max_retries=0, timeout=100) as client:
        yield client


def test_the_embedded_model_answers(embedded: Anthropic) -> None:
    message = embedded.messages.create(model=CHAT, max_tokens=4, messages=HELLO, system="Be brief.", extra_body=GREEDY)
    assert (message.role, message.type, message.model) == ("assistant", "message", CHAT)
    [block] = message.content
    assert block.type == "text"
    assert block.text
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 4)
    assert message.usage.input_tokens > 3


def test_the_embedded_model_streams_what_it_answers(embedded: Anthropic) -> None:
    asked: dict[str, Any] = {"model": CHAT, "max_tokens": 12, "messages": HELLO, "extra_body": GREEDY}
    whole = embedded.messages.create(**asked)
    with embedded.messages.stream(**asked) as stream:
        texts = list(stream.text_stream)
        message = stream.get_final_message()
    assert "".join(texts) == whole.content[0].text == message.content[0].text
    assert (message.stop_reason, message.usage.output_tokens) == (whole.stop_reason, whole.usage.output_tokens)
    shown = [one.usage.input_tokens + (one.usage.cache_read_input_tokens or 0) for one in (message, whole)]
    assert shown[0] == shown[1] > 3


def test_the_embedded_model_counts_tokens(embedded: Anthropic) -> None:
    counted = embedded.messages.count_tokens(model=CHAT, messages=HELLO)
    message = embedded.messages.create(model=CHAT, max_tokens=1, messages=HELLO)
    assert counted.input_tokens == message.usage.input_tokens + (message.usage.cache_read_input_tokens or 0)


def test_errors_are_those_that_the_client_knows(embedded: Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="no-such-model"):
        embedded.messages.create(model="no-such-model", max_tokens=1, messages=HELLO)
    with pytest.raises(anthropic.BadRequestError, match=r"messages\[0\].content\[0\].type"):
        embedded.messages.create(
            model=CHAT,
            max_tokens=1,
            messages=[{"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "x"}}]}],
        )


def test_the_models_are_listed(embedded: Anthropic) -> None:
    names = [one.id for one in embedded.models.list()]
    assert CHAT in names
    assert embedded.models.retrieve(CHAT).display_name == CHAT


@asynccontextmanager
async def asking(*engines: Behaviour, **settings: Any) -> AsyncIterator[tuple[Rig, AsyncAnthropic]]:
    async with (
        gateway_over(*engines, **settings) as rig,
        AsyncAnthropic(base_url=f"http://127.0.0.1:{rig.port}", api_key="none", max_retries=0, timeout=30) as client,
    ):
        yield rig, client


def calling(*arguments: str) -> Behaviour:
    """Calls the tool, whole or in pieces."""

    async def behave(call: EngineCall) -> None:
        function = {"name": "weather", "arguments": "".join(arguments)}
        calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        if not call.json.get("stream"):
            answer = behaviours.chat_answer()
            answer["choices"] = [
                {"index": 0, "message": {"role": "assistant", "tool_calls": calls}, "finish_reason": "tool_calls"}
            ]
            call.whole(200, answer)
            return
        call.head(200, *behaviours.EVENT_STREAM)
        calls[0]["function"] = {"name": "weather", "arguments": ""}
        deltas: list[object] = [calls]
        deltas += [[{"index": 0, "function": {"arguments": piece}}] for piece in arguments]
        for delta in deltas:
            call.event(behaviours.chat_event(None) | {"choices": [{"index": 0, "delta": {"tool_calls": delta}}]})
        call.event(behaviours.chat_event(None, finish_reason="tool_calls"))
        call.event({"id": "c", "choices": [], "usage": behaviours.usage(7, 9)})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


async def test_tools_are_called_and_answered() -> None:
    async with asking(calling('{"city": ', '"Graz"}')) as (rig, client):
        asked: dict[str, Any] = {"model": requests.MODEL, "max_tokens": 50, "messages": HELLO, "tools": [TOOL]}
        whole = await client.messages.create(**asked)
        async with client.messages.stream(**asked) as stream:
            streamed = await stream.get_final_message()
        for message in (whole, streamed):
            [block] = message.content
            assert (block.type, block.id, block.name, block.input) == (
                "tool_use",
                "call_1",
                "weather",
                {"city": "Graz"},
            )
            assert message.stop_reason == "tool_use"
        results = [{"type": "tool_result", "tool_use_id": "call_1", "content": "sunny"}]
        turns = [*HELLO, {"role": "assistant", "content": whole.content}, {"role": "user", "content": results}]
        await client.messages.create(**asked | {"messages": turns})
        sent = json.loads(rig.engine.calls[-1].body)
    assert [one["role"] for one in sent["messages"]] == ["user", "assistant", "tool"]
    assert sent["messages"][1]["tool_calls"][0]["id"] == sent["messages"][2]["tool_call_id"] == "call_1"


async def test_a_stream_that_breaks_is_an_error_and_no_end() -> None:
    async with asking(behaviours.stream_then(then="reset"), gateway={"continues_streams": False}) as (_, client):
        seen = []
        with pytest.raises(anthropic.APIError):
            async with client.messages.stream(model=requests.MODEL, max_tokens=9, messages=HELLO) as stream:
                seen = [event.type async for event in stream]
        assert "message_stop" not in seen


async def test_a_stream_goes_on_elsewhere_as_the_same_message() -> None:
    async def breaking(call: EngineCall) -> None:
        is_rest = "continue_final_message" in call.json
        await (behaviours.stream(3) if is_rest else behaviours.stream_then(tokens=2, then="reset"))(call)

    async with (
        asking(breaking, breaking, pool={"engine": "vllm"}) as (_, client),
        client.messages.stream(model=requests.MODEL, max_tokens=9, messages=HELLO) as stream,
    ):
        types = [event.type async for event in stream]
        message = await stream.get_final_message()
    assert message.content[0].text == " hello" * 5
    assert types.count("message_start") == types.count("content_block_start") == types.count("message_stop") == 1


async def test_what_was_not_carried_is_said_in_a_header() -> None:
    async with asking(behaviours.answer("hi")) as (_, client):
        answer = await client.messages.with_raw_response.create(
            model=requests.MODEL,
            max_tokens=9,
            messages=HELLO,
            system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        )
    assert answer.headers["x-heterodyne-not-carried"] == "messages.content.cache_control"


async def test_a_long_body_is_read_beside_the_worker() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVs" * 200_000}}
    async with asking(behaviours.answer("hi")) as (rig, client):
        message = await client.messages.create(
            model=requests.MODEL, max_tokens=9, messages=[{"role": "user", "content": [picture]}]
        )
        sent = json.loads(rig.engine.calls[-1].body)
    assert message.content[0].text == "hi"
    assert sent["messages"][0]["content"][0]["image_url"]["url"] == "data:image/png;base64," + "aGVs" * 200_000


async def test_a_tenant_s_key_is_its_own_in_either_header(tmp_path: Path) -> None:
    secret = "hd-" + "a" * 40
    records = tmp_path / "records.jsonl"
    known = tenants(**{secret: caller("acme/search")})
    async with asking(behaviours.answer("hi"), tenants=known, records=records) as (rig, client):
        asked: dict[str, Any] = {"model": requests.MODEL, "max_tokens": 9, "messages": HELLO}
        await client.with_options(api_key=secret).messages.create(**asked)
        with pytest.raises(anthropic.AuthenticationError):
            await client.with_options(api_key=secret + "x").messages.create(**asked)
        async with AsyncAnthropic(
            base_url=f"http://127.0.0.1:{rig.port}", auth_token=secret, max_retries=0, timeout=30
        ) as bearer:
            await bearer.messages.create(**asked)
        found = await rig.wait_records(3)
    assert sorted((one.tenant, one.status) for one in found) == [("", 401), ("acme/search", 200), ("acme/search", 200)]
