"""OpenAI's and Anthropic's own clients work piles of requests off: whole, with mistakes in them, and cancelled."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI

from heterodyne.testing.media import answer_media
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

MODEL = "chat"
CHAT = "/v1/chat/completions"
WAIT_S = 60.0
ENDS = ("completed", "failed", "expired", "cancelled")


async def echo(call: EngineCall) -> None:
    """Says what it was asked; what is to be slow takes its time, what is to be refused is."""
    if answer_media(call):
        return
    said = call.json["messages"][-1]["content"]
    text = said if isinstance(said, str) else said[-1]["text"]
    if text.startswith("refuse"):
        call.whole(
            400, {"error": {"message": "not this", "type": "invalid_request_error", "param": None, "code": None}}
        )
        return
    await asyncio.sleep(30.0 if text.startswith("slow") else 0.02)
    choice = {"index": 0, "message": {"role": "assistant", "content": f"re {text}"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    call.whole(
        200, {"id": "c", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": usage}
    )


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    with in_thread(ScriptedEngine(echo, model=MODEL)) as engine:
        config = f'[pools.own]\nmodel = "{MODEL}"\nengine = "vllm"\nurls = ["{engine.url}"]\nprice_usd_per_hour = 3.6\n'
        config += f'[models.{MODEL}]\naliases = ["omni-moderation-latest"]\n'
        with ServeProcess(tmp_path_factory.mktemp("batches"), "--workers", "2", config=config) as running:
            running.wait_ready()
            yield running


@pytest.fixture
def client(serve: ServeProcess) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{serve.url}/v1", api_key="none", max_retries=0, timeout=60) as client:
        yield client


@pytest.fixture
def claude(serve: ServeProcess) -> Iterator[Anthropic]:
    with Anthropic(base_url=serve.url, api_key="none", max_retries=0, timeout=60) as client:
        yield client


def line(custom_id: str, text: str, **changes: Any) -> str:
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}]}
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": CHAT, "body": body, **changes})


def submit(client: OpenAI, lines: list[str], **fields: Any) -> Any:
    file = client.files.create(file=("in.jsonl", "\n".join(lines).encode()), purpose="batch")
    asked = {"input_file_id": file.id, "endpoint": CHAT, "completion_window": "24h", **fields}
    return client.batches.create(**asked)


def ended(client: OpenAI, id: str) -> Any:
    until_s = time.monotonic() + WAIT_S
    while (batch := client.batches.retrieve(id)).status not in ENDS:
        assert time.monotonic() < until_s, batch
        time.sleep(0.2)
    return batch


def results(client: OpenAI, file: str) -> list[dict[str, Any]]:
    return [json.loads(one) for one in client.files.content(file).text.splitlines()]


def test_a_batch_is_worked_off_in_order(client: OpenAI) -> None:
    batch = submit(client, [line(f"b-{number}", f"line {number}") for number in range(40)], metadata={"night": "1"})
    assert (batch.status, batch.metadata) == ("validating", {"night": "1"})
    batch = ended(client, batch.id)
    assert (batch.status, batch.error_file_id, batch.errors) == ("completed", None, None)
    counts = batch.request_counts
    assert (counts.total, counts.completed, counts.failed) == (40, 40, 0)
    told = results(client, batch.output_file_id)
    assert [one["custom_id"] for one in told] == [f"b-{number}" for number in range(40)]
    assert told[7]["response"]["status_code"] == 200
    assert told[7]["response"]["body"]["choices"][0]["message"]["content"] == "re line 7"
    assert told[7]["error"] is None
    assert (batch.usage.input_tokens, batch.usage.output_tokens) == (200, 120)
    file = client.files.retrieve(batch.output_file_id)
    assert (file.purpose, file.filename) == ("batch_output", f"{batch.id}_output.jsonl")
    assert batch.id in [one.id for one in client.batches.list(limit=100)]


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/moderations", {"input": "one"}, "results"),
        ("/v1/rerank", {"model": MODEL, "query": "q", "documents": ["a", "b"]}, "results"),
        ("/v1/score", {"model": MODEL, "text_1": "a", "text_2": ["b", "c"]}, "data"),
    ],
)
def test_what_is_not_generated_is_worked_off(client: OpenAI, path: str, body: dict[str, Any], told: str) -> None:
    lines = [
        json.dumps({"custom_id": f"m-{number}", "method": "POST", "url": path, "body": body}) for number in range(4)
    ]
    batch = ended(client, submit(client, lines, endpoint=path).id)
    assert (batch.status, batch.request_counts.completed) == ("completed", 4), batch
    for one in results(client, batch.output_file_id):
        assert one["response"]["body"][told]


def test_lines_with_mistakes_are_told_apart_and_the_rest_runs(client: OpenAI) -> None:
    lines = [
        line("good", "one"),
        "{not json",
        line("good", "again"),
        line("elsewhere", "x", url="/v1/embeddings"),
        line("streams", "x", body={"model": MODEL, "messages": [], "stream": True}),
        line("refused", "refuse this"),
        line("nobody", "x", body={"model": "no-such-model", "messages": [{"role": "user", "content": "x"}]}),
        line("fine", "two"),
    ]
    batch = ended(client, submit(client, lines).id)
    assert batch.status == "completed"
    assert (batch.request_counts.completed, batch.request_counts.failed) == (2, 6)
    assert [one["custom_id"] for one in results(client, batch.output_file_id)] == ["good", "fine"]
    assert [(one.line, one.code) for one in batch.errors.data] == [
        (2, "invalid_json_line"),
        (3, "duplicate_custom_id"),
        (4, "invalid_url"),
        (5, "invalid_request"),
    ]
    failed = results(client, batch.error_file_id)
    assert [one["error"] and one["error"]["code"] for one in failed] == [
        "invalid_json_line",
        "duplicate_custom_id",
        "invalid_url",
        "invalid_request",
        None,
        None,
    ]
    assert [one["response"]["status_code"] for one in failed[-2:]] == [400, 404]


def test_an_input_without_a_line_to_send_fails_the_batch(client: OpenAI) -> None:
    batch = ended(client, submit(client, ["nothing"]).id)
    assert (batch.status, batch.errors.data[0].code) == ("failed", "invalid_json_line")


def test_a_batch_that_is_cancelled_keeps_what_it_has(client: OpenAI) -> None:
    lines = [line("quick", "at once"), *(line(f"slow-{number}", f"slow {number}") for number in range(3))]
    batch = submit(client, lines)
    until_s = time.monotonic() + WAIT_S
    while client.batches.retrieve(batch.id).request_counts.completed < 1:
        assert time.monotonic() < until_s
        time.sleep(0.2)
    assert client.batches.cancel(batch.id).status == "cancelling"
    batch = ended(client, batch.id)
    assert batch.status == "cancelled"
    assert [one["custom_id"] for one in results(client, batch.output_file_id)] == ["quick"]
    left = results(client, batch.error_file_id)
    assert {one["error"]["code"] for one in left} == {"batch_cancelled"}
    assert len(left) == 3
    assert client.batches.cancel(batch.id).status == "cancelled", "it is over, and stays so"


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"input_file_id": "file-none"}, "input_file_id"),
        ({"endpoint": "/v1/nothing"}, "endpoint"),
        ({"completion_window": "soon"}, "completion_window"),
        ({"completion_window": "9999d"}, "completion_window"),
    ],
)
def test_what_cannot_be_a_batch_is_refused_by_name(client: OpenAI, changes: dict[str, str], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        submit(client, [line("a", "x")], **changes)
    assert refused.value.param == param


async def test_the_async_client_works_one_off(serve: ServeProcess) -> None:
    async with AsyncOpenAI(base_url=f"{serve.url}/v1", api_key="none", max_retries=0, timeout=60) as client:
        file = await client.files.create(file=("in.jsonl", line("a", "x").encode()), purpose="batch")
        batch = await client.batches.create(input_file_id=file.id, endpoint=CHAT, completion_window="30m")
        async with asyncio.timeout(WAIT_S):
            while (batch := await client.batches.retrieve(batch.id)).status not in ENDS:
                await asyncio.sleep(0.2)
        assert batch.status == "completed"
        content = await client.files.content(batch.output_file_id or "")
        assert json.loads(content.text)["response"]["body"]["choices"][0]["message"]["content"] == "re x"


def message(custom_id: str, text: str) -> Any:
    params = {"model": MODEL, "max_tokens": 16, "messages": [{"role": "user", "content": text}]}
    return {"custom_id": custom_id, "params": params}


def test_messages_are_batched_by_anthropics_client(claude: Anthropic, client: OpenAI) -> None:
    asked = [message(f"m-{number}", f"hello {number}") for number in range(5)] + [message("bad", "refuse it")]
    batch = claude.messages.batches.create(requests=asked)
    assert (batch.type, batch.processing_status, batch.results_url) == ("message_batch", "in_progress", None)
    until_s = time.monotonic() + WAIT_S
    while (batch := claude.messages.batches.retrieve(batch.id)).processing_status != "ended":
        assert time.monotonic() < until_s
        time.sleep(0.2)
    counts = batch.request_counts
    assert (counts.succeeded, counts.errored, counts.processing) == (5, 1, 0)
    told = list(claude.messages.batches.results(batch.id))
    assert [one.custom_id for one in told] == [f"m-{number}" for number in range(5)] + ["bad"]
    first, last = told[0].result, told[-1].result
    assert first.type == "succeeded"
    assert first.message.content[0].text == "re hello 0"
    assert last.type == "errored"
    assert last.error.error.type == "invalid_request_error"
    assert batch.id in [one.id for one in claude.messages.batches.list()]
    assert batch.id not in [one.id for one in client.batches.list(limit=100)], "each API has its own"
    with pytest.raises(openai.NotFoundError):
        client.batches.retrieve(batch.id)
    assert claude.messages.batches.delete(batch.id).type == "message_batch_deleted"
    with pytest.raises(anthropic.NotFoundError):
        claude.messages.batches.retrieve(batch.id)


def test_a_message_batch_is_cancelled(claude: Anthropic) -> None:
    batch = claude.messages.batches.create(requests=[message("s", "slow one")])
    with pytest.raises(anthropic.BadRequestError):
        claude.messages.batches.delete(batch.id)
    assert claude.messages.batches.cancel(batch.id).processing_status == "canceling"
    until_s = time.monotonic() + WAIT_S
    while (batch := claude.messages.batches.retrieve(batch.id)).processing_status != "ended":
        assert time.monotonic() < until_s
        time.sleep(0.2)
    assert batch.request_counts.canceled == 1
    assert [one.result.type for one in claude.messages.batches.results(batch.id)] == ["canceled"]


def test_two_requests_of_one_name_are_refused(claude: Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match=r"requests\[1\]\.custom_id"):
        claude.messages.batches.create(requests=[message("a", "x"), message("a", "y")])


def test_nothing_that_is_worked_on_is_left(serve: ServeProcess, tmp_path_factory: pytest.TempPathFactory) -> None:
    work = Path(serve.config_file).parent / "state" / "heterodyne" / "files.work"
    until_s = time.monotonic() + WAIT_S
    # Results stay for a minute, for the books of workers that die meanwhile.
    while [one for one in work.iterdir() if one.name != "holder" and one.suffix != ".done"]:
        assert time.monotonic() < until_s, list(work.iterdir())
        time.sleep(0.2)
