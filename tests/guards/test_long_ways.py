"""Policies hold on the long ways too: lines of batches, the background, another replica that goes on, tool results."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from heterodyne.testing.behaviours import EVENT_STREAM, chat_event
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.guards.leaky_engine import saying
from tests.support.gateways import gateway_over
from tests.support.guards import BLOCKS, EMAIL, MASKS, SECRET, SERVED_WITH_BLOCKS
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.threads import in_thread

MODEL = "scripted"
CHAT = "/v1/chat/completions"
WAIT_S = 60.0


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    folder = tmp_path_factory.mktemp("guards")
    engine = ScriptedEngine(saying(f"take {SECRET}"), model=MODEL)
    with in_thread(engine), ServeProcess(folder, config=SERVED_WITH_BLOCKS.format(url=engine.url)) as running:
        running.wait_ready()
        yield running


@pytest.fixture
def client(serve: ServeProcess) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{serve.url}/v1", api_key="none", max_retries=0, timeout=60) as client:
        yield client


def line(custom_id: str, text: str) -> str:
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}]}
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": CHAT, "body": body})


def waited_for(look: Any, *ends: str) -> Any:
    until_s = time.monotonic() + WAIT_S
    while (found := look()).status not in ends:
        assert time.monotonic() < until_s, found
        time.sleep(0.1)
    return found


def test_lines_of_a_batch_are_looked_at(client: OpenAI) -> None:
    lines = "\n".join([line("in", SECRET), line("out", "hello")]).encode()
    file = client.files.create(file=("in.jsonl", lines), purpose="batch")
    batch = client.batches.create(input_file_id=file.id, endpoint=CHAT, completion_window="24h")
    ended = waited_for(lambda: client.batches.retrieve(batch.id), "completed", "failed", "expired")
    (refused,) = map(json.loads, client.files.content(ended.error_file_id).text.splitlines())
    assert (refused["custom_id"], refused["response"]["status_code"]) == ("in", 400)
    assert refused["response"]["body"]["error"]["code"] == "content_filter"
    (answered,) = map(json.loads, client.files.content(ended.output_file_id).text.splitlines())
    assert SECRET not in str(answered)
    assert answered["response"]["body"]["choices"][0]["finish_reason"] == "content_filter"


def test_what_runs_in_the_background_is_looked_at(client: OpenAI) -> None:
    made = client.responses.create(model=MODEL, input="hello", background=True)
    ended = waited_for(lambda: client.responses.retrieve(made.id), "completed", "incomplete", "failed")
    assert ended.status == "incomplete"
    assert SECRET not in ended.to_json()
    assert ended.incomplete_details is not None
    assert ended.incomplete_details.reason == "content_filter"


def test_what_is_kept_is_what_was_let_through(client: OpenAI) -> None:
    made = client.responses.create(model=MODEL, input="hello", store=True)
    assert SECRET not in client.responses.retrieve(made.id).to_json()


def test_the_result_of_a_tool_is_looked_at(client: OpenAI) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": f"the file says {SECRET}"},
    ]
    with pytest.raises(BadRequestError) as refused:
        client.chat.completions.create(model=MODEL, messages=messages)
    assert refused.value.code == "content_filter"
    assert refused.value.param == "messages[2].content"


async def test_another_replica_goes_on_without_having_seen_what_was_masked(tmp_path: Path) -> None:
    async def break_off(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        for piece in ("I wrote ", "to <EMA", "IL_1> ", "and now ", "we are waiting for it to come"):
            call.event(chat_event(piece))
        await asyncio.sleep(0.05)
        call.reset()

    async def go_on(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        for piece in (" <EMAIL_1> has ", f"{SECRET[:9]}", f"{SECRET[9:]}", " for the whole ", "of the evening"):
            call.event(chat_event(piece))
        call.event(chat_event(None, finish_reason="stop"))
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    behaviours = iter((break_off, go_on))

    async def either(call: EngineCall) -> None:
        await next(behaviours)(call)

    async with gateway_over(
        either, either, guards=BLOCKS | MASKS, pool={"engine": "vllm"}, records=tmp_path / "records"
    ) as rig:
        answer = await ask(rig.port, chat(stream=True, messages=[{"role": "user", "content": f"ask {EMAIL}"}]))
        assert answer.text == f"I wrote to {EMAIL} and now we are waiting for it to {EMAIL} has "
        calls = [call for engine in rig.engines for call in engine.calls]
        assert len(calls) == 2
        assert all(EMAIL.encode() not in call.body and b"<EMAIL_1>" in call.body for call in calls)
        (record,) = await rig.wait_records(1)
        assert record.continuations == 1
        assert [one.action for one in record.guards] == ["mask", "block"]
