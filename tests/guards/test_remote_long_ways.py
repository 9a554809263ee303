"""Guards elsewhere are asked on the long ways too: lines of batches, and what runs in the background."""

import json
from collections.abc import Iterator

import pytest
from openai import OpenAI

from heterodyne.testing.behaviours import chat_answer
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.guards.leaky_engine import saying
from tests.guards.test_long_ways import CHAT, line, waited_for
from tests.support.outside_guard import WORD
from tests.support.threads import in_thread

MODEL = "scripted"
CONFIG = """
[pools.own]
model = "scripted"
engine = "vllm"
urls = ["{own}"]

[pools.judge]
model = "judge"
engine = "vllm"
urls = ["{judge}"]

[guards.judged]
guard = "judge"
judge_model = "judge"
action = "block"
timeout_ms = 30000
"""


async def judge(call: EngineCall) -> None:
    call.whole(200, chat_answer("unsafe\nS1" if WORD.encode() in call.body else "safe"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAI]:
    own, judging = ScriptedEngine(saying(f"a {WORD}"), model=MODEL), ScriptedEngine(judge, model="judge")
    with in_thread(own), in_thread(judging):
        config = CONFIG.format(own=own.url, judge=judging.url)
        with ServeProcess(tmp_path_factory.mktemp("judged"), config=config) as running:
            running.wait_ready()
            with OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0, timeout=60) as made:
                yield made


def test_lines_of_a_batch_are_judged(client: OpenAI) -> None:
    lines = "\n".join([line("in", WORD), line("out", "hello")]).encode()
    file = client.files.create(file=("in.jsonl", lines), purpose="batch")
    batch = client.batches.create(input_file_id=file.id, endpoint=CHAT, completion_window="24h")
    ended = waited_for(lambda: client.batches.retrieve(batch.id), "completed", "failed", "expired")
    (refused,) = map(json.loads, client.files.content(ended.error_file_id).text.splitlines())
    assert (refused["custom_id"], refused["response"]["status_code"]) == ("in", 400)
    (answered,) = map(json.loads, client.files.content(ended.output_file_id).text.splitlines())
    assert WORD not in str(answered)
    assert answered["response"]["body"]["choices"][0]["finish_reason"] == "content_filter"


@pytest.mark.parametrize("is_stream", [False, True])
def test_what_runs_in_the_background_is_judged(client: OpenAI, is_stream: bool) -> None:
    made = client.responses.create(model=MODEL, input="hello", background=True, stream=is_stream)
    id_ = next(event.response.id for event in made if event.type == "response.created") if is_stream else made.id
    ended = waited_for(lambda: client.responses.retrieve(id_), "completed", "incomplete", "failed")
    assert ended.status == "incomplete"
    assert WORD not in ended.to_json()
    assert ended.incomplete_details is not None
    assert ended.incomplete_details.reason == "content_filter"
