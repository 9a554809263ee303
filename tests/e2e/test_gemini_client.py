"""What a user of Google's own client sees, of the embedded models and of engines that do as they are told."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour
from heterodyne.testing.serve_process import ServeProcess
from tests.e2e.test_anthropic_client import calling
from tests.support import requests
from tests.support.gateways import Rig, gateway_over

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the client's own making

CHAT = "smollm2-135m"
EMBED = "all-minilm-l6-v2"
FUNCTION = types.FunctionDeclaration(
    name="weather",
    description="The weather of a city.",
    parameters=types.Schema(type="OBJECT", properties={"city": types.Schema(type="STRING")}, required=["city"]),
)


def opened(url: str) -> genai.Client:
    return genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url, timeout=100_000))


@pytest.fixture(scope="module")
def embedded(served: ServeProcess) -> Iterator[genai.Client]:
    client = opened(served.url)
    yield client
    client.close()


def test_the_embedded_model_answers_and_streams_the_same(embedded: genai.Client) -> None:
    config = types.GenerateContentConfig(temperature=0, max_output_tokens=8, system_instruction="Be brief.")
    whole = embedded.models.generate_content(model=CHAT, contents="Say hello.", config=config)
    pieces = list(embedded.models.generate_content_stream(model=CHAT, contents="Say hello.", config=config))
    assert whole.text
    assert "".join(piece.text or "" for piece in pieces) == whole.text
    assert whole.candidates[0].finish_reason == pieces[-1].candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
    assert whole.usage_metadata.candidates_token_count == pieces[-1].usage_metadata.candidates_token_count == 8
    assert whole.model_version == CHAT


def test_the_embedded_model_counts_tokens_and_embeds(embedded: genai.Client) -> None:
    assert embedded.models.count_tokens(model=CHAT, contents="Say hello.").total_tokens > 3
    one = embedded.models.embed_content(model=EMBED, contents="hello")
    several = embedded.models.embed_content(model=EMBED, contents=["hello", "world"])
    assert len(one.embeddings[0].values) == 384
    assert [len(vector.values) for vector in several.embeddings] == [384, 384]
    assert several.embeddings[0].values == pytest.approx(one.embeddings[0].values, abs=1e-3)


def test_errors_are_those_that_the_client_knows(embedded: genai.Client) -> None:
    with pytest.raises(errors.ClientError) as unknown:
        embedded.models.generate_content(model="no-such-model", contents="Hello.")
    assert (unknown.value.code, unknown.value.status) == (404, "NOT_FOUND")
    with pytest.raises(errors.ClientError) as refused:
        embedded.models.generate_content(
            model=CHAT, contents="Hello.", config=types.GenerateContentConfig(cached_content="x")
        )
    assert (refused.value.code, refused.value.status) == (400, "INVALID_ARGUMENT")
    assert "cachedContent" in refused.value.message


def test_the_models_are_listed(embedded: genai.Client) -> None:
    assert f"models/{CHAT}" in [one.name for one in embedded.models.list()]
    assert embedded.models.get(model=CHAT).display_name == CHAT


@asynccontextmanager
async def asking(*engines: Behaviour, **settings: Any) -> AsyncIterator[tuple[Rig, Any]]:
    async with gateway_over(*engines, **settings) as rig:
        client = opened(f"http://127.0.0.1:{rig.port}").aio
        try:
            yield rig, client
        finally:
            await client.aclose()


async def test_functions_are_called_and_answered() -> None:
    async with asking(calling('{"city": ', '"Graz"}')) as (rig, client):
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[FUNCTION])],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        whole = await client.models.generate_content(model=requests.MODEL, contents="Weather?", config=config)
        streamed = [
            piece
            async for piece in await client.models.generate_content_stream(
                model=requests.MODEL, contents="Weather?", config=config
            )
        ]
        for answer in (whole, streamed[-1]):
            [call] = answer.function_calls
            assert (call.name, call.args) == ("weather", {"city": "Graz"})
        result = types.Part.from_function_response(name="weather", response={"sky": "blue"})
        turns = ["Weather?", whole.candidates[0].content, types.Content(role="user", parts=[result])]
        await client.models.generate_content(model=requests.MODEL, contents=turns, config=config)
        sent = json.loads(rig.engine.calls[-1].body)
    assert [one["role"] for one in sent["messages"]] == ["user", "assistant", "tool"]
    assert sent["messages"][1]["tool_calls"][0]["id"] == sent["messages"][2]["tool_call_id"]
    assert sent["tools"][0]["function"]["parameters"]["properties"] == {"city": {"type": "string"}}


async def test_a_stream_that_breaks_is_an_error() -> None:
    async with asking(behaviours.stream_then(then="reset"), gateway={"continues_streams": False}) as (_, client):
        with pytest.raises(errors.APIError):
            async for _ in await client.models.generate_content_stream(model=requests.MODEL, contents="Hello."):
                pass
