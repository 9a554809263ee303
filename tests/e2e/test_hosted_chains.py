"""Two gateways in a row: the first asks the second in the words of another maker's API, as it would that maker.

What the second reads and tells is judged by that maker's own client elsewhere, so that a chat of OpenAI's client that
comes through both unharmed was told as the provider wants it.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support import requests
from tests.support.gateways import Rig, gateway_over
from tests.support.tenants import caller, tenants

MODEL = requests.MODEL
HELLO: list[Any] = [{"role": "user", "content": "Say hello."}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL: Any = {"type": "function", "function": {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}}
CALLS = (("call_1", '{"city": "Graz"}'), ("call_2", '{"city": "Wien"}'))
SECRET = "hd-" + "a" * 40
PROVIDERS = ("anthropic", "gemini")

each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@asynccontextmanager
async def chained(
    provider: str, *engines: Behaviour, pool: dict[str, Any] | None = None, **inner: Any
) -> AsyncIterator[tuple[Rig, AsyncOpenAI]]:
    """The inner gateway, and a client of the outer one."""
    async with gateway_over(*engines, **inner) as rig:
        asked = {"engine": provider, "urls": (f"http://127.0.0.1:{rig.port}",), **(pool or {})}
        async with (
            gateway_over(pool=asked) as outer,
            AsyncOpenAI(
                base_url=f"http://127.0.0.1:{outer.port}/v1", api_key="none", max_retries=0, timeout=30
            ) as client,
        ):
            yield rig, client


def sent(rig: Rig) -> dict[str, Any]:
    """What the engine behind both was asked last."""
    return json.loads(rig.engine.calls[-1].body)  # type: ignore[no-any-return]


@each_provider
async def test_a_chat_is_answered(provider: str) -> None:
    async with chained(provider, behaviours.answer("Hello.")) as (rig, client):
        answer = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "system", "content": "Be brief."}, *HELLO],
            max_tokens=9,
            temperature=0.5,
            top_p=0.9,
            stop=["END"],
            reasoning_effort="low",
            extra_body={"top_k": 5},
        )
        asked = sent(rig)
    [choice] = answer.choices
    assert (choice.message.content, choice.message.role, choice.finish_reason) == ("Hello.", "assistant", "stop")
    assert answer.object == "chat.completion"
    assert answer.created > 1_000_000_000
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (7, 3, 10)
    assert asked["messages"] == [{"role": "system", "content": "Be brief."}, *HELLO]
    assert (asked["max_tokens"], asked["temperature"], asked["top_p"], asked["top_k"]) == (9, 0.5, 0.9, 5)
    assert (asked["stop"], asked["reasoning_effort"]) == (["END"], "low")


@each_provider
@pytest.mark.parametrize("wants_usage", [False, True])
async def test_a_chat_is_streamed(provider: str, wants_usage: bool) -> None:
    options: Any = {"stream_options": {"include_usage": True}} if wants_usage else {}
    async with chained(provider, behaviours.stream(5)) as (_, client):
        stream = await client.chat.completions.create(model=MODEL, messages=HELLO, stream=True, **options)
        chunks = [chunk async for chunk in stream]
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == " hello" * 5
    assert deltas[0].role == "assistant"
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason] == ["stop"]
    assert len({chunk.id for chunk in chunks}) == 1
    counted = [chunk.usage for chunk in chunks if chunk.usage is not None]
    assert [(one.prompt_tokens, one.completion_tokens) for one in counted] == ([(7, 5)] if wants_usage else [])


def calling(*, thoughts: str = "") -> Behaviour:
    """Thinks, and calls two tools at once."""
    pieces = [
        {"index": place, "id": id_, "type": "function", "function": {"name": "weather", "arguments": arguments}}
        for place, (id_, arguments) in enumerate(CALLS)
    ]

    async def behave(call: EngineCall) -> None:
        if not call.json.get("stream"):
            message = {"role": "assistant", "content": None, "reasoning_content": thoughts, "tool_calls": pieces}
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
            call.whole(200, behaviours.chat_answer() | {"choices": [choice]})
            return
        call.head(200, *behaviours.EVENT_STREAM)
        deltas: list[Any] = [{"reasoning_content": thoughts}] if thoughts else []
        for piece in pieces:
            function: Any = piece["function"]
            half = len(function["arguments"]) // 2
            deltas.append({"tool_calls": [piece | {"function": function | {"arguments": ""}}]})
            deltas += [
                {"tool_calls": [{"index": piece["index"], "function": {"arguments": text}}]}
                for text in (function["arguments"][:half], function["arguments"][half:])
            ]
        for delta in deltas:
            call.event(behaviours.chat_event(None) | {"choices": [{"index": 0, "delta": delta}]})
        call.event(behaviours.chat_event(None, finish_reason="tool_calls"))
        call.event({"id": "c", "choices": [], "usage": behaviours.usage(7, 9)})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


@each_provider
async def test_several_tools_are_called_at_once_and_answered(provider: str) -> None:
    async with chained(provider, calling(thoughts="Two of them.")) as (rig, client):
        asked: Any = {"model": MODEL, "messages": HELLO, "tools": [TOOL], "tool_choice": "required"}
        whole = (await client.chat.completions.create(**asked)).choices[0]
        assert sent(rig)["tools"] == [TOOL]
        assert sent(rig)["tool_choice"] == "required"
        async with client.chat.completions.stream(**asked) as stream:
            streamed = (await stream.get_final_completion()).choices[0]
        for choice in (whole, streamed):
            assert choice.finish_reason == "tool_calls"
            calls = [
                (one.id, one.function.name, json.loads(one.function.arguments)) for one in choice.message.tool_calls
            ]
            assert calls == [(id_, "weather", json.loads(arguments)) for id_, arguments in CALLS]
        assert whole.message.reasoning_content == "Two of them."
        results: list[Any] = [{"role": "tool", "tool_call_id": id_, "content": '{"sky": "blue"}'} for id_, _ in CALLS]
        turns = [*HELLO, whole.message.model_dump(exclude_none=True), *results, {"role": "user", "content": "And?"}]
        answer = await client.chat.completions.with_raw_response.create(**asked | {"messages": turns})
        told = sent(rig)["messages"]
    assert [one["role"] for one in told] == ["user", "assistant", "tool", "tool", "user"]
    assert [one["id"] for one in told[1]["tool_calls"]] == [one["tool_call_id"] for one in told[2:4]]
    assert json.loads(told[2]["content"]) == {"sky": "blue"}
    assert answer.headers["x-heterodyne-not-carried"] == "messages.reasoning_content"


@each_provider
async def test_pictures_and_schemas_arrive(provider: str) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "aGVs" * 200_000}}
    content = [{"type": "text", "text": "Where?"}, picture]
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    async with chained(provider, behaviours.answer('{"city": "Graz"}')) as (rig, client):
        answer = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": content}],  # type: ignore[list-item]
            response_format=schema,  # type: ignore[arg-type]
        )
        asked = sent(rig)
    assert answer.choices[0].message.content == '{"city": "Graz"}'
    assert asked["messages"][0]["content"] == content
    assert asked["response_format"]["json_schema"]["schema"] == SCHEMA


@each_provider
async def test_a_mistake_of_the_caller_s_is_told_in_the_provider_s_words(provider: str) -> None:
    async with chained(provider, behaviours.refuse(400, "The picture is too small.")) as (_, client):
        with pytest.raises(openai.BadRequestError, match="The picture is too small"):
            await client.chat.completions.create(model=MODEL, messages=HELLO)


@each_provider
async def test_what_the_provider_has_no_words_for_is_refused_by_its_path(provider: str) -> None:
    async with chained(provider, behaviours.answer()) as (rig, client):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.chat.completions.create(model=MODEL, messages=HELLO, logit_bias={"5": 1})
        assert not rig.engine.calls
    assert refused.value.param == "logit_bias"


@each_provider
async def test_a_hint_that_was_not_told_is_named(provider: str) -> None:
    async with chained(provider, behaviours.answer("Hello.")) as (_, client):
        asked: Any = {"model": MODEL, "messages": HELLO, "verbosity": "low", "prompt_cache_key": "k"}
        whole = await client.chat.completions.with_raw_response.create(**asked)
        long = await client.chat.completions.with_raw_response.create(
            **asked | {"messages": [{"role": "user", "content": "x" * 900_000}]}
        )
        none = await client.chat.completions.with_raw_response.create(model=MODEL, messages=HELLO)
    assert whole.headers["x-heterodyne-not-carried"] == "prompt_cache_key, verbosity"
    assert long.headers["x-heterodyne-not-carried"] == "prompt_cache_key, verbosity"
    assert "x-heterodyne-not-carried" not in none.headers


@each_provider
async def test_a_provider_that_is_full_is_not_now(provider: str) -> None:
    async with chained(provider, behaviours.refuse(503)) as (_, client):
        with pytest.raises(openai.InternalServerError) as refused:
            await client.chat.completions.create(model=MODEL, messages=HELLO)
    assert refused.value.status_code == 503
    assert "retry-after" in refused.value.response.headers


@each_provider
async def test_a_rate_limit_is_one(provider: str) -> None:
    async with chained(provider, behaviours.refuse(429, "slowly", "retry-after: 7")) as (_, client):
        with pytest.raises(openai.RateLimitError) as refused:
            await client.chat.completions.create(model=MODEL, messages=HELLO)
    assert refused.value.response.headers["retry-after"] == "7"


@each_provider
async def test_a_stream_that_breaks_is_an_error_and_no_end(provider: str) -> None:
    broken = behaviours.stream_then(tokens=2, then="reset")
    async with chained(provider, broken, gateway={"continues_streams": False}) as (_, client):
        stream = await client.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
        seen: list[Any] = []
        with pytest.raises(openai.APIError):
            await _gather(stream, seen)
    assert "".join(choice.delta.content or "" for choice in seen) == " hello" * 2
    assert {choice.finish_reason for choice in seen} == {None}


async def _gather(stream: Any, seen: list[Any]) -> None:
    async for chunk in stream:
        seen += chunk.choices


@each_provider
async def test_a_client_that_leaves_stops_the_engine_behind_both(provider: str) -> None:
    async with chained(provider, behaviours.stream(10_000, delay_s=0.01)) as (rig, client):
        stream = await client.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
        await stream.close()
        await rig.wait_cancelled()


@each_provider
async def test_the_key_goes_as_the_provider_wants_it(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_KEY", SECRET)
    known = tenants(**{SECRET: caller("acme/search")})
    pool = {"api_key_env": "PROVIDER_KEY"}
    async with chained(provider, behaviours.answer("Hello."), pool=pool, tenants=known) as (_, client):
        answer = await client.chat.completions.create(model=MODEL, messages=HELLO)
        assert answer.choices[0].message.content == "Hello."
        monkeypatch.setenv("PROVIDER_KEY", SECRET + "x")
    async with chained(provider, behaviours.answer("Hello."), pool=pool, tenants=known) as (_, client):
        with pytest.raises(openai.InternalServerError, match="credentials"):
            await client.chat.completions.create(model=MODEL, messages=HELLO)


@each_provider
async def test_many_at_once_are_each_answered(provider: str) -> None:
    async with chained(provider, behaviours.stream(3)) as (_, client):
        answers = await asyncio.gather(
            *(client.chat.completions.create(model=MODEL, messages=HELLO) for _ in range(20))
        )
    assert {one.choices[0].message.content for one in answers} == {" hello" * 3}


async def embedding(call: EngineCall) -> None:
    """Two numbers for each text."""
    texts: Any = call.json["input"]
    data = [{"object": "embedding", "index": place, "embedding": [place, 0.5]} for place in range(len(texts))]
    call.whole(200, {"object": "list", "data": data, "model": MODEL, "usage": {"prompt_tokens": 4, "total_tokens": 4}})


async def test_texts_are_embedded_by_gemini() -> None:
    async with chained("gemini", embedding) as (rig, client):
        answer = await client.embeddings.create(model=MODEL, input=["a", "b"], dimensions=2)
        asked = sent(rig)
    assert [one.embedding for one in answer.data] == [[0.0, 0.5], [1.0, 0.5]]
    assert (asked["input"], asked["dimensions"]) == (["a", "b"], 2)


@each_provider
async def test_tokens_are_counted_by_the_provider(provider: str) -> None:
    """By way of the Responses API, which no provider of another make has."""
    async with chained(provider, behaviours.answer_everything()) as (rig, client):
        tool: Any = {"type": "function", "name": "weather", "description": "Of a city.", "parameters": SCHEMA}
        counted = await client.responses.input_tokens.count(
            model=MODEL, instructions="Be brief.", input="Say hello.", tools=[tool | {"strict": None}]
        )
        assert (counted.object, counted.input_tokens) == ("response.input_tokens", 3)
        asked = sent(rig)
        assert rig.engine.calls[-1].path == "/tokenize"
    assert asked["messages"] == [{"role": "system", "content": "Be brief."}, *HELLO]
    assert [one["function"]["name"] for one in asked["tools"]] == ["weather"]


@each_provider
async def test_the_tokens_themselves_are_not_to_be_had(provider: str) -> None:
    async with chained(provider, behaviours.answer_everything()) as (rig, client):
        with pytest.raises(openai.APIStatusError) as refused:
            await client.post(
                str(client.base_url.join("/tokenize")), body={"model": MODEL, "prompt": "x"}, cast_to=object
            )
        assert refused.value.status_code == 501
        assert not rig.engine.calls
