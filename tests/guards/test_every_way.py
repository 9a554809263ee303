"""A planted secret is caught on every way that the matrix lists, and every way of it is tried by a test."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.testing.behaviours import EVENT_STREAM, chat_event
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.guards.calling_engine import calling
from tests.guards.every_route import Asked, request
from tests.guards.leaky_engine import PIECE, saying
from tests.guards.matrix import TRIED, WAYS, counts, rows, tried
from tests.support.cascades import ALIAS, CHEAP, EASY, fitted_file
from tests.support.gateways import gateway_over
from tests.support.guards import BLOCKS, EMAIL, MASKS, SECRET, SERVED_WITH_BLOCKS
from tests.support.raw_client import ask
from tests.support.requests import MODEL
from tests.support.threads import in_thread

PAGE = Path(__file__).parents[2] / "docs" / "guard-matrix.md"
TRYING = ("tests.guards.test_no_path_around", "tests.caching.test_policies_see_hits")
BEGUN = SECRET[:8].encode()  # of it, nothing like this may be sent
WAIT_S = 60.0


def test_every_way_is_tried_and_the_page_says_which() -> None:
    for module in TRYING:
        import_module(module)
    assert set(WAYS) == TRIED
    page = PAGE.read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("| `/")] == rows()
    assert [line for line in page.splitlines() if re.fullmatch(r"\| [a-z* ]+ \| \d+ \| \d+ \|", line)] == counts()


@tried("stream", "in")
async def test_a_secret_in_what_asks_for_a_stream_reaches_no_engine(asked: Asked) -> None:
    async with gateway_over(saying("fine"), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(asked, f"use {SECRET}", stream=True))
        assert (answer.status, rig.engine.calls) == (400, [])
        assert BEGUN not in answer.body


def with_result(asked: Asked, result: str) -> Asked:
    """The same route, asked with what a tool has said."""
    name = {"name": "read"}
    bodies: dict[str, dict[str, Any]] = {
        "/v1/chat/completions": {
            "messages": [
                {"role": "user", "content": "read it"},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "type": "function", "function": name | {"arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "c", "content": result},
            ]
        },
        "/v1/responses": {
            "input": [
                {"role": "user", "content": "read it"},
                {"type": "function_call", "call_id": "c", "arguments": "{}"} | name,
                {"type": "function_call_output", "call_id": "c", "output": result},
            ]
        },
        "/v1/messages": {
            "max_tokens": 64,
            "messages": [
                {"role": "user", "content": "read it"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "input": {}} | name]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": result}]},
            ],
        },
    }
    gemini = {
        "contents": [
            {"role": "user", "parts": [{"text": "read it"}]},
            {"role": "model", "parts": [{"functionCall": name | {"args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": name | {"response": {"said": result}}}]},
        ]
    }
    body = bodies.get(asked.path)
    return asked._replace(body=lambda _: gemini if body is None else {"model": MODEL, **body})


@tried("tool result", "in")
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_secret_in_the_result_of_a_tool_reaches_no_engine(asked: Asked, is_stream: bool) -> None:
    async with gateway_over(saying("fine"), guards=BLOCKS) as rig:
        fine = await ask(rig.port, request(with_result(asked, "the file is empty"), "", stream=is_stream))
        assert (fine.status, len(rig.engine.calls)) == (200, 1)
        answer = await ask(rig.port, request(with_result(asked, f"the file says {SECRET}"), "", stream=is_stream))
        assert (answer.status, len(rig.engine.calls)) == (400, 1)
        assert BEGUN not in answer.body


@tried("tool call", "out")
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_secret_in_the_arguments_of_a_call_reaches_no_client(asked: Asked, is_stream: bool) -> None:
    leaks = calling("send", json.dumps({"to": "them", "text": f"take {SECRET}"}))
    async with gateway_over(leaks, guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(asked, "hello", stream=is_stream))
        assert (answer.status, len(rig.engine.calls)) == (200, 1)
        assert BEGUN not in answer.body
        assert SECRET[-8:].encode() not in answer.body


def of_alias(asked: Asked) -> Asked:
    """The same route, asked of the name that has a cascade."""
    if asked.stream_path:
        path, stream_path = asked.path.replace(MODEL, ALIAS), asked.stream_path.replace(MODEL, ALIAS)
        return asked._replace(path=path, stream_path=stream_path)
    return asked._replace(body=lambda text: asked.body(text) | {"model": ALIAS})


@tried("cascaded", "in")
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_secret_that_a_cascade_is_asked_reaches_neither_model(
    asked: Asked, is_stream: bool, tmp_path: Path
) -> None:
    async with cascade_over(saying("fine"), tmp_path) as rig:
        answer = await ask(rig.port, request(of_alias(asked), f"{EASY} {SECRET}", stream=is_stream))
        assert answer.status == 400
        assert not any(engine.calls for engine in rig.engines)


@tried("cascaded", "out")
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_secret_that_the_cheap_model_says_reaches_no_client(
    asked: Asked, is_stream: bool, tmp_path: Path
) -> None:
    async with cascade_over(saying(f"take {SECRET}"), tmp_path) as rig:
        answer = await ask(rig.port, request(of_alias(asked), EASY, stream=is_stream))
        assert BEGUN not in answer.body
        assert SECRET[-8:].encode() not in answer.body


def cascade_over(cheap: Behaviour, folder: Path) -> Any:
    cascades = {ALIAS: CascadeSettings(fitted=str(fitted_file(folder, "structure")))}
    model = {"aliases": (ALIAS,)}
    return gateway_over(
        saying("from the big one"), beside={CHEAP: cheap}, model=model, cascades=cascades, guards=BLOCKS
    )


def telling(*pieces: str, breaks: bool) -> Behaviour:
    """A stream that says these, and breaks off or ends."""

    async def behave(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        is_chat = call.path.endswith("/chat/completions")
        for piece in pieces:
            choice = {"index": 0, "text": piece, "finish_reason": None}
            call.event(chat_event(piece) if is_chat else {**chat_event(piece), "choices": [choice]})
        if breaks:
            await asyncio.sleep(0.05)
            call.reset()
            return
        choice = {"index": 0, "text": "", "finish_reason": "stop"}
        call.event(chat_event(None, finish_reason="stop") if is_chat else {**chat_event(""), "choices": [choice]})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


@tried("continued", "in", "out")
async def test_neither_half_of_a_stream_that_another_replica_continues_leaks(asked: Asked) -> None:
    begins = telling("I wrote ", "to <EMA", "IL_1> ", "and now ", "we are waiting for it", breaks=True)
    pieces = [SECRET[at : at + PIECE] for at in range(0, len(SECRET), PIECE)]
    behaviours = iter((begins, telling(" to come: ", *pieces, " and so on", breaks=False)))

    async def either(call: EngineCall) -> None:
        await next(behaviours)(call)

    async with gateway_over(either, either, guards=BLOCKS | MASKS, pool={"engine": "vllm"}) as rig:
        answer = await ask(rig.port, request(asked, f"write to {EMAIL}", stream=True))
        calls = [call for engine in rig.engines for call in engine.calls]
        assert len(calls) == 2
        assert all(EMAIL.encode() not in call.body and b"<EMAIL_1>" in call.body for call in calls)
        assert b"waiting" in answer.body
        assert BEGUN not in answer.body
        assert SECRET[-8:].encode() not in answer.body


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAI]:
    folder = tmp_path_factory.mktemp("batches")
    engine = ScriptedEngine(saying(f"take {SECRET}"), model=MODEL)
    with in_thread(engine), ServeProcess(folder, config=SERVED_WITH_BLOCKS.format(url=engine.url)) as running:
        running.wait_ready()
        with OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0, timeout=60) as opened:
            yield opened


def results(client: OpenAI, asked: Asked, text: str) -> str:
    """Of a batch of one line, whatever came of it."""
    line = {"custom_id": "one", "method": "POST", "url": asked.path, "body": asked.body(text)}
    file = client.files.create(file=("in.jsonl", json.dumps(line).encode()), purpose="batch")
    batch = client.batches.create(input_file_id=file.id, endpoint=asked.path, completion_window="24h")  # type: ignore[arg-type]
    until_s = time.monotonic() + WAIT_S
    while (ended := client.batches.retrieve(batch.id)).status not in ("completed", "failed", "expired"):
        assert time.monotonic() < until_s, ended
        time.sleep(0.1)
    return "".join(client.files.content(one).text for one in (ended.output_file_id, ended.error_file_id) if one)


@tried("batch", "in")
def test_a_secret_in_a_line_of_a_batch_reaches_no_engine(client: OpenAI, asked: Asked) -> None:
    told = results(client, asked, f"use {SECRET}")
    assert '"status_code":400' in told.replace(" ", "")
    assert "no-secrets" in told
    assert BEGUN.decode() not in told


@tried("batch", "out")
def test_a_secret_in_the_answer_to_a_line_is_in_no_file(client: OpenAI, asked: Asked) -> None:
    told = results(client, asked, "hello")
    assert "one" in told
    assert BEGUN.decode() not in told
