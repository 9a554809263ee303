"""An emulated engine behind real HTTP, asked by the real client."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import openai
import pytest
from openai import AsyncOpenAI
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion

from heterodyne.emulator.faults import Faults, Garble, Lie, Poor
from heterodyne.emulator.server import EmulatorServer
from heterodyne.rollout.answer_signs import is_refusal, try_quality
from tests.support.emulators import order

try:  # whichever the client is built on
    import httpx2 as httpx
except ImportError:
    import httpx

MODEL = "llama-3.1-8b"
ASK = [{"role": "user", "content": "why is the sky blue?"}]
ON = {"ignore_eos": True}


@asynccontextmanager
async def emulated(
    faults: Faults | None = None, **changes: object
) -> AsyncIterator[tuple[EmulatorServer, AsyncOpenAI]]:
    """A running emulator and a client of it."""
    async with (
        EmulatorServer(order(**changes), faults=faults) as server,
        AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=20) as client,
    ):
        yield server, client


async def whole(client: AsyncOpenAI, **fields: object) -> ChatCompletion:
    """An answer in one piece."""
    return await client.chat.completions.create(**{"model": MODEL, "messages": ASK, **fields})


async def streamed(client: AsyncOpenAI, **fields: object) -> tuple[list[str], CompletionUsage]:
    """The words of a streamed answer, and its usage; an answer without is not whole."""
    words, usage = [], None
    async for event in await client.chat.completions.create(
        model=MODEL, messages=ASK, stream=True, stream_options={"include_usage": True}, **fields
    ):
        words += [choice.delta.content for choice in event.choices if choice.delta.content]
        usage = event.usage or usage
    if usage is None:
        raise EOFError(f"the stream ended after {len(words)} words without its usage")
    return words, usage


async def test_a_stream_has_the_words_of_the_whole_answer() -> None:
    async with emulated() as (_, client):
        answer = await whole(client)
        words, usage = await streamed(client)
    assert "".join(words) == answer.choices[0].message.content
    assert (usage.prompt_tokens, usage.completion_tokens) == (answer.usage.prompt_tokens, len(words))


async def test_a_second_emulator_continues_what_a_first_began() -> None:
    async with emulated() as (_, one), emulated() as (_, other):
        words, _ = await streamed(one)
        begun = {"role": "assistant", "content": "".join(words[:5])}
        rest = await whole(other, messages=[*ASK, begun], extra_body={"continue_final_message": True})
    assert rest.choices[0].message.content == "".join(words[5:])


async def test_several_answers_and_prompts_are_counted_apart() -> None:
    async with emulated() as (_, client):
        chat = await whole(client, n=3, max_tokens=4)
        texts = await client.completions.create(model=MODEL, prompt=["abcdefgh", "abcd"], max_tokens=4)
    assert len(chat.choices) == 3
    assert chat.usage.completion_tokens == 12
    assert (texts.usage.prompt_tokens, texts.usage.completion_tokens) == (3, 8)


async def test_a_prompt_seen_before_is_cached() -> None:
    long = [{"role": "user", "content": "word " * 500}]
    async with emulated() as (_, client):
        first, second = [(await whole(client, messages=long, max_tokens=2)).usage for _ in range(2)]
    assert first.prompt_tokens_details.cached_tokens == 0
    assert second.prompt_tokens_details.cached_tokens > 0.9 * first.prompt_tokens


async def test_mistakes_get_the_engines_refusal() -> None:
    async with emulated() as (_, client):
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            await whole(client, model="other")
        with pytest.raises(openai.BadRequestError, match="maximum context length is 4096"):
            await whole(client, max_tokens=5000)


async def test_a_client_that_leaves_frees_its_slot() -> None:
    async with emulated(speed=0.2) as (server, client):
        stream = await client.chat.completions.create(model=MODEL, messages=ASK, stream=True, max_tokens=2000)
        await anext(aiter(stream))
        assert server.engine.machine.running == 1
        await stream.close()
        async with asyncio.timeout(30):
            while server.engine.machine.running:
                await asyncio.sleep(0.01)
        assert server.engine.machine.blocks.used == 0


@pytest.mark.parametrize("ask", [streamed, whole])
@pytest.mark.parametrize("garble", list(Garble))
async def test_a_garbled_answer_never_looks_whole(
    garble: Garble, ask: Callable[[AsyncOpenAI], Awaitable[object]]
) -> None:
    async with emulated(Faults(garble=garble)) as (server, client):
        with pytest.raises((openai.APIError, httpx.HTTPError, ValueError, EOFError)):
            await ask(client)
        assert server.engine.machine.running == 0


async def test_a_share_of_answers_is_poor_and_as_long_as_others() -> None:
    async with emulated(Faults(poor=Poor.REFUSE, poor_share=0.5)) as (_, client):
        texts = [(await whole(client, max_tokens=40, extra_body=ON)).choices[0].message.content or "" for _ in range(4)]
    assert [is_refusal(text) for text in texts] == [False, True, False, True]
    assert len({len(text.split()) for text in texts}) == 1
    async with emulated(Faults(poor=Poor.REPEAT)) as (_, client):
        repeated = (await whole(client, max_tokens=40, extra_body=ON)).choices[0].message.content or ""
    assert (try_quality(repeated) or 1.0) < 0.2 < (try_quality(texts[0]) or 0.0)


async def test_a_share_of_requests_is_refused_with_the_time_to_come_back() -> None:
    async with emulated(Faults(refuse_status=429, refuse_share=0.5, retry_after_s=3)) as (_, client):
        await whole(client, max_tokens=1)
        with pytest.raises(openai.RateLimitError) as refused:
            await whole(client, max_tokens=1)
        await whole(client, max_tokens=1)
    assert refused.value.response.headers["retry-after"] == "3"


async def test_a_stall_stops_tokens_until_it_is_lifted() -> None:
    async with emulated(Faults(stall=True)) as (server, client):
        asking = asyncio.create_task(streamed(client))
        await asyncio.sleep(0.3)
        assert not asking.done()
        server.engine.set_faults(Faults())
        words, _ = await asking
    assert words


async def test_a_slow_emulator_takes_longer() -> None:
    async def seconds(slowdown: float) -> float:
        async with emulated(Faults(slowdown=slowdown)) as (_, client):
            before = asyncio.get_running_loop().time()
            await streamed(client, max_tokens=50, extra_body={"ignore_eos": True})
            return asyncio.get_running_loop().time() - before

    slow = await seconds(20.0)
    assert slow > 1.5 * min([await seconds(1.0) for _ in range(3)])  # a busy machine makes the quick ones slow, too


async def test_a_crash_cuts_every_stream_and_the_port() -> None:
    async with emulated(Faults(crash_after_tokens=5)) as (server, client):
        with pytest.raises((openai.APIError, httpx.HTTPError)):
            await streamed(client)
        assert server.has_crashed.is_set()
        with pytest.raises(openai.APIConnectionError):
            await streamed(client)


async def test_metrics_can_lie() -> None:
    async def running(client: AsyncOpenAI) -> str | None:
        page = await client.get("/../metrics", cast_to=str)
        return next((line[-3:] for line in page.split("\n") if line.startswith("vllm:num_requests_running{")), None)

    async with emulated(speed=0.5) as (server, client):
        stream = await client.chat.completions.create(model=MODEL, messages=ASK, stream=True)
        await anext(aiter(stream))
        said = []
        for lie in (None, Lie.IDLE, Lie.GARBAGE, Lie.FROZEN):
            server.engine.set_faults(Faults(lie=lie))
            said.append(await running(client))
        await stream.close()
        await asyncio.sleep(0.1)
        said.append(await running(client))
    assert said == ["1.0", "0.0", None, "1.0", "1.0"]


def test_the_command_says_where_it_listens_and_ends_when_told() -> None:
    command = [sys.executable, "-m", "heterodyne", "emulate", "--hardware", "mi300x", "--model", "llama-3.1-8b"]
    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.terminate()
        assert process.wait(timeout=10) == 0


def test_a_model_that_does_not_fit_is_refused_with_a_way_out() -> None:
    command = [sys.executable, "-m", "heterodyne", "emulate", "--hardware", "l4", "--model", "llama-3.1-70b"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode != 0
    assert "does not fit" in refused.stderr
    assert "plan memory" in refused.stderr
    assert refused.stdout == ""
