"""Bedrock's Converse as a pool: what is signed and asked, and what becomes of every way that it may answer.

The engine is scripted: botocore says whether requests look and are signed as it would have them, and its client reads
the script's own answers.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.session import Session
from openai import AsyncOpenAI

from heterodyne.control.replica_call import call_replica
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.testing.amazon_events import STREAM, amazon_event
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from heterodyne.wire.connection_pool import ConnectionPool
from tests.support.converse import check_shape, check_signed
from tests.support.gateways import Rig, gateway_over
from tests.support.requests import MODEL
from tests.translation.drawing import Drawing
from tests.translation.ends.converse import ConverseEnd, begin, events, send, usage, whole, word
from tests.translation.meant import Called, Said

BEDROCK_MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
REGION = "eu-west-3"
ID, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "IQoJb3JpZ2luX2VjE//token=="
KEYS = Credentials(ID, SECRET, TOKEN)
HELLO: list[Any] = [{"role": "user", "content": "Say hello."}]
ASKED: Any = {"model": MODEL, "messages": HELLO}
ASKED_UNTIL_MET = 20  # equal replicas are drawn by chance: one in a million draws only one of two
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL: Any = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
SAID = Said(text="Hello.", prompt_tokens=70, completion_tokens=9, cached_tokens=30)
CALLING = Said(
    thoughts="Two.",
    calls=(
        Called(id="tooluse_1", name="weather", arguments={"city": "Graz"}),
        Called(id="b", name="now", arguments={}),
    ),
    finish="tool_calls",
)
DRAWING = Drawing("converse")
END = ConverseEnd()
each_way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    monkeypatch.setenv("AWS_REGION", REGION)


@asynccontextmanager
async def bedrock(*engines: Behaviour, **pool: Any) -> AsyncIterator[tuple[Rig, AsyncOpenAI]]:
    signed = {"engine": "bedrock-converse", "engine_model": BEDROCK_MODEL, "api_key_env": "AWS_SECRET_ACCESS_KEY"}
    async with gateway_over(*engines, pool=signed | pool) as rig:
        url = f"http://127.0.0.1:{rig.port}/v1"
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=30) as client:
            yield rig, client


async def told(client: AsyncOpenAI, *, stream: bool, **more: Any) -> Any:
    """The answer, put together where it streams."""
    if not stream:
        return await client.chat.completions.create(**ASKED | more)
    async with client.chat.completions.stream(**ASKED | more, stream_options={"include_usage": True}) as streamed:
        return await streamed.get_final_completion()


@each_way
async def test_what_is_asked_is_signed_as_botocore_signs_it(stream: bool) -> None:
    async with bedrock(END.saying(SAID, DRAWING)) as (rig, client):
        answer = await told(client, stream=stream, max_tokens=5)
        [call] = rig.engine.calls
        check_signed(call, KEYS, REGION)
        check_shape("Converse", call.body)
    assert answer.choices[0].message.content == "Hello."
    assert answer.model == MODEL
    verb = "converse-stream" if stream else "converse"
    assert call.path == f"/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/{verb}"
    assert call.headers["host"] == f"127.0.0.1:{rig.engine.port}"
    assert json.loads(call.body) == {
        "messages": [{"role": "user", "content": [{"text": "Say hello."}]}],
        "inferenceConfig": {"maxTokens": 5},
    }
    assert SECRET not in str(call.headers)


async def test_every_request_is_signed_anew_however_long_it_is() -> None:
    async with bedrock(END.saying(SAID, DRAWING)) as (rig, client):
        for text in ("é" * 5, "x" * 900_000, "y"):
            await client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}])
        for call in rig.engine.calls:
            check_signed(call, KEYS, REGION)
        assert len({call.headers["authorization"] for call in rig.engine.calls}) == 3


async def test_a_key_of_bedrock_s_own_goes_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1")
    async with bedrock(END.saying(SAID, DRAWING), api_key_env="AWS_BEARER_TOKEN_BEDROCK") as (rig, client):
        await client.chat.completions.create(**ASKED)
        headers = rig.engine.calls[0].headers
    assert headers["authorization"] == "Bearer bedrock-api-key-1"
    assert "x-amz-date" not in headers


async def test_what_the_gateway_asks_by_itself_is_signed_too() -> None:
    async with ScriptedEngine(END.saying(SAID, DRAWING)) as engine:
        replica = Replica(
            id=ReplicaId("p-0"),
            pool=PoolName("p"),
            model=MODEL,
            engine="bedrock-converse",
            host="127.0.0.1",
            port=engine.port,
            api_key_env="AWS_SECRET_ACCESS_KEY",
        )
        request = Request(id="1", operation=Operation.CHAT, model=MODEL, body=json.dumps(ASKED).encode())
        pool = ConnectionPool(asyncio.get_running_loop())
        answer = await call_replica(pool, replica, request, timeout_s=5)
        check_signed(engine.calls[0], KEYS, REGION)
        await pool.close()
    assert json.loads(answer)["choices"][0]["message"]["content"] == "Hello."


@each_way
async def test_tools_thoughts_and_counts_come_back(stream: bool) -> None:
    async with bedrock(END.saying(CALLING, DRAWING)) as (_, client):
        answer = await told(client, stream=stream, tools=[TOOL])
        [choice] = answer.choices
        assert choice.finish_reason == "tool_calls"
        calls = [(one.id, one.function.name, json.loads(one.function.arguments)) for one in choice.message.tool_calls]
        assert calls == [("tooluse_1", "weather", {"city": "Graz"}), ("b", "now", {})]
        assert choice.message.reasoning_content == "Two."
    async with bedrock(END.saying(SAID, DRAWING)) as (_, client):
        used = (await told(client, stream=stream)).usage
    assert (used.prompt_tokens, used.completion_tokens, used.total_tokens) == (70, 9, 79)
    assert used.prompt_tokens_details.cached_tokens == 30


def signed_thoughts(call: EngineCall) -> tuple[Any, list[bytes]]:
    """Whole, and as a stream."""
    thought = {"text": "Hm.", "signature": "sig=="}
    answer: Any = whole(SAID, DRAWING)
    answer["output"]["message"]["content"].insert(0, {"reasoningContent": {"reasoningText": thought}})
    place = {"contentBlockIndex": 5}
    deltas = [{"reasoningContent": {name: text}} for name, text in thought.items()]
    thoughts = [amazon_event("contentBlockDelta", {"delta": delta, **place}) for delta in deltas]
    return answer, [*thoughts, *events(SAID, DRAWING)]


@each_way
async def test_thoughts_go_back_with_the_signature_that_they_came_with(stream: bool) -> None:
    async def behave(call: EngineCall) -> None:
        answer, streamed = signed_thoughts(call)
        send(call, *streamed) if call.path.endswith("-stream") else call.whole(200, answer)

    async with bedrock(behave) as (rig, client):
        message = (await told(client, stream=stream)).choices[0].message
        assert (message.reasoning_content, message.reasoning_signature) == ("Hm.", "sig==")
        turns = [*HELLO, message.model_dump(exclude_none=True), {"role": "user", "content": "And?"}]
        again = await client.chat.completions.with_raw_response.create(model=MODEL, messages=turns)
        sent = json.loads(rig.engine.calls[-1].body)["messages"][1]["content"]
        check_shape("Converse", rig.engine.calls[-1].body)
    assert sent[0] == {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "sig=="}}}
    assert "x-heterodyne-not-carried" not in again.headers


async def ending(client: AsyncOpenAI, *, stream: bool) -> tuple[str, str | None]:
    """Why an answer ended, and the provider's own word for it."""
    answer = await client.chat.completions.create(**ASKED, stream=stream)
    chunks = [chunk async for chunk in answer] if stream else [answer]
    [choice] = [choice for chunk in chunks for choice in chunk.choices if choice.finish_reason]
    return choice.finish_reason, getattr(choice, "native_finish_reason", None)


@pytest.mark.parametrize(
    ("reason", "finish", "native"),
    [
        ("stop_sequence", "stop", None),
        ("max_tokens", "length", None),
        ("model_context_window_exceeded", "length", "model_context_window_exceeded"),
        ("guardrail_intervened", "content_filter", "guardrail_intervened"),
        ("content_filtered", "content_filter", "content_filtered"),
        ("malformed_tool_use", "stop", "malformed_tool_use"),
    ],
)
async def test_why_an_answer_ended(reason: str, finish: str, native: str | None) -> None:
    async def behave(call: EngineCall) -> None:
        if call.path.endswith("/converse"):
            call.whole(200, whole(SAID, DRAWING) | {"stopReason": reason})
            return
        ended = [amazon_event("messageStop", {"stopReason": reason}), amazon_event("metadata", {"usage": usage(SAID)})]
        send(call, word("Hi"), *ended)

    async with bedrock(behave) as (_, client):
        for stream in (False, True):
            assert await ending(client, stream=stream) == (finish, native)


REFUSALS = [
    (400, "ValidationException", "The image is too small.", 400, "The image is too small."),
    (400, "ValidationException", "Input is too long for requested model.", 400, "too long"),
    (400, "ServiceQuotaExceededException", "Your request exceeds the service quota for your account.", 503, "account"),
    (403, "InvalidSignatureException", "The request signature we calculated does not match.", 503, "credentials"),
    (404, "ResourceNotFoundException", "Could not resolve the foundation model.", 503, "does not know the model"),
    (408, "ModelTimeoutException", "The model took too long.", 502, "failed"),
    (424, "ModelErrorException", "The model failed.", 502, "failed"),
    (429, "ThrottlingException", "Too many tokens, please wait before trying again.", 429, "Too many tokens"),
    (429, "ModelNotReadyException", "The model is not ready.", 429, "not ready"),
    (500, "InternalServerException", "Secret details.", 502, "failed"),
    (503, "ServiceUnavailableException", "Busy.", 503, "too much to do"),
]


@pytest.mark.parametrize(("status", "kind", "said", "expected", "words"), REFUSALS, ids=[one[1] for one in REFUSALS])
async def test_what_it_refuses_is_told_as_what_it_is(
    status: int, kind: str, said: str, expected: int, words: str
) -> None:
    async def behave(call: EngineCall) -> None:
        call.whole(status, {"message": said}, f"x-amzn-errortype: {kind}")

    async with bedrock(behave) as (_, client):
        with pytest.raises(openai.APIStatusError, match=words) as refused:
            await client.chat.completions.create(**ASKED)
    assert refused.value.status_code == expected
    assert refused.value.code != "context_length_exceeded" or "too long" in said


async def seen_of(client: AsyncOpenAI) -> tuple[str, Exception | None]:
    """The words of a stream, and how it broke."""
    text = ""
    try:
        async for chunk in await client.chat.completions.create(**ASKED, stream=True):
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
    except openai.APIError as error:
        return text, error
    return text, None


@pytest.mark.parametrize("kind", ["throttlingException", "serviceUnavailableException"])
async def test_a_stream_that_is_throttled_before_its_first_word_is_asked_elsewhere(kind: str) -> None:
    async def throttled(call: EngineCall) -> None:
        send(call, amazon_event("messageStart", {"role": "assistant"}), amazon_event(kind, {}, kind="exception"))

    async with bedrock(throttled, END.saying(SAID, DRAWING)) as (rig, client):
        told = [await seen_of(client) for _ in range(ASKED_UNTIL_MET)]
        assert told == [("Hello.", None)] * ASKED_UNTIL_MET
        assert rig.engines[0].calls, "it was asked at least once"


@pytest.mark.parametrize("kind", ["modelStreamErrorException", "internalServerException", "throttlingException"])
async def test_a_stream_that_fails_in_the_middle_is_an_error_and_no_end(kind: str) -> None:
    async def behave(call: EngineCall) -> None:
        begin(call, 2)
        await asyncio.sleep(0.02)
        call.chunk(amazon_event(kind, {"message": "It broke."}, kind="exception"))
        call.write(b"0\r\n\r\n")

    async with bedrock(behave) as (_, client):
        text, error = await seen_of(client)
    assert text == " hello hello"
    assert error is not None


def damaged() -> bytes:
    message = bytearray(word(" more"))
    message[-6] ^= 1
    return bytes(message)


@pytest.mark.parametrize(
    "rest",
    [damaged(), word(" more")[:-3], b"data: {}\n\n" * 3, b"", amazon_event("contentBlockDelta", [1])],
    ids=["checksum", "cut", "other framing", "no end", "other form"],
)
async def test_a_stream_that_is_none_is_never_taken_for_whole(rest: bytes) -> None:
    async def behave(call: EngineCall) -> None:
        begin(call, 2)
        await asyncio.sleep(0.02)
        if rest:
            call.chunk(rest)
        call.write(b"0\r\n\r\n")

    async with bedrock(behave) as (rig, client):
        text, error = await seen_of(client)
        assert (text, error is None) == (" hello hello", False)
        await rig.wait_empty()


async def test_a_client_that_leaves_ends_the_stream_there() -> None:
    async with bedrock(END.talking()) as (rig, client):
        stream = await client.chat.completions.create(**ASKED, stream=True)
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
        await stream.close()
        await rig.wait_cancelled()


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://e.org/a.png"}}]}]},
         "messages[0].content[0].image_url.url"),
        ({"tools": [TOOL], "parallel_tool_calls": False}, "parallel_tool_calls"),
        ({"temperature": 1.5}, "temperature"),
        ({"response_format": {"type": "json_object"}}, "response_format.type"),
        ({"reasoning_effort": "none"}, "reasoning_effort"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"presence_penalty": 0.5}, "presence_penalty"),
        ({"tool_choice": "required"}, "tool_choice"),
    ],
)  # fmt: skip
async def test_what_it_has_no_words_for_is_refused_by_its_path(asked: Any, param: str) -> None:
    async with bedrock(END.saying(SAID, DRAWING)) as (rig, client):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.chat.completions.create(**ASKED | asked)
        assert not rig.engine.calls
    assert refused.value.param == param


async def test_tokens_are_counted_by_the_provider() -> None:
    async def behave(call: EngineCall) -> None:
        call.whole(200, {"inputTokens": 12})

    async with bedrock(behave) as (rig, client):
        counted = await client.responses.input_tokens.count(model=MODEL, instructions="Be brief.", input="Hello.")
        [call] = rig.engine.calls
        check_shape("CountTokens", call.body)
        check_signed(call, KEYS, REGION)
    assert counted.input_tokens == 12
    assert call.path.endswith("/count-tokens")
    assert set(json.loads(call.body)["input"]["converse"]) == {"messages", "system"}


async def test_botocore_reads_the_script_as_the_gateway_does() -> None:
    async def behave(call: EngineCall) -> None:
        check_signed(call, KEYS, REGION)
        answer, streamed = signed_thoughts(call)
        if call.path.endswith("/converse"):
            call.whole(200, answer)
        elif call.path.endswith("/converse-stream"):
            send(call, *streamed)
        else:
            call.head(200, *STREAM)

    def asked(url: str) -> tuple[Any, list[Any]]:
        config = Config(retries={"max_attempts": 0})
        client = Session().create_client(
            "bedrock-runtime",
            region_name=REGION,
            endpoint_url=url,
            aws_access_key_id=ID,
            aws_secret_access_key=SECRET,
            aws_session_token=TOKEN,
            config=config,
        )
        turns = [{"role": "user", "content": [{"text": "Say hello."}]}]
        whole = client.converse(modelId=BEDROCK_MODEL, messages=turns)
        return whole, list(client.converse_stream(modelId=BEDROCK_MODEL, messages=turns)["stream"])

    async with ScriptedEngine(behave) as engine:
        answer, stream = await asyncio.to_thread(asked, engine.url)
        paths = [call.path for call in engine.calls]
    content = answer["output"]["message"]["content"]
    assert content[0]["reasoningContent"]["reasoningText"] == {"text": "Hm.", "signature": "sig=="}
    assert (content[1]["text"], answer["usage"]["cacheReadInputTokens"]) == ("Hello.", 30)
    deltas = [one["contentBlockDelta"]["delta"] for one in stream if "contentBlockDelta" in one]
    assert "".join(delta.get("text", "") for delta in deltas) == "Hello."
    assert [name for one in stream for name in one][-2:] == ["messageStop", "metadata"]
    assert paths == [f"/model/{BEDROCK_MODEL.replace(':', '%3A')}/{verb}" for verb in ("converse", "converse-stream")]
