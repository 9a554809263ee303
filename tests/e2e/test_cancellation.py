"""Who leaves stops the engine; an engine that dies is noticed by whoever listens, and comes back."""

import http.client
import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from openai import OpenAI

from heterodyne.testing.serve_process import ServeProcess, is_alive

# Far longer than any test waits: only a cancellation ends it in time.
ENDLESS: dict[str, Any] = {
    "model": "smollm2-135m",
    "messages": [{"role": "user", "content": "Hi"}],
    "max_tokens": 1500,
}


# Its 1500 tokens take several times as long on any machine that is here for CPUs; alone on one it is 0.1 s.
STOPS_S_MAX = 4.0


def wait_until(is_so: Callable[[], bool], within_s: float) -> None:
    """Raise if it is not."""
    began_s = time.monotonic()
    while not is_so():
        assert time.monotonic() - began_s < within_s, f"not within {within_s:g} s"
        time.sleep(0.02)


@pytest.fixture
def is_busy(served: ServeProcess) -> Callable[[], bool]:
    """Whether the chat engine itself says that it generates."""
    port = served.port_of("engine chat-0")

    def is_busy() -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/slots", timeout=10) as answer:
            return any(slot["is_processing"] for slot in json.load(answer))

    return is_busy


def test_closing_a_stream_stops_its_generation_long_before_its_end(client: OpenAI, is_busy: Callable[[], bool]) -> None:
    stream = client.chat.completions.create(**ENDLESS, stream=True, extra_body={"ignore_eos": True})
    next(iter(stream))
    assert is_busy()
    stream.close()
    wait_until(lambda: not is_busy(), within_s=STOPS_S_MAX)


def test_leaving_before_a_whole_answer_stops_its_generation_long_before_its_end(
    served: ServeProcess, is_busy: Callable[[], bool]
) -> None:
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=10)
    body = json.dumps({**ENDLESS, "ignore_eos": True})
    connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
    wait_until(is_busy, within_s=10)
    connection.close()
    wait_until(lambda: not is_busy(), within_s=STOPS_S_MAX)


def test_a_killed_engine_breaks_its_streams_openly_and_comes_back_by_itself(tmp_path: Path) -> None:
    with ServeProcess(tmp_path) as serve:
        serve.wait_ready()
        client = OpenAI(base_url=f"{serve.url}/v1", api_key="none", max_retries=0, timeout=60)
        stream = client.chat.completions.create(**ENDLESS, stream=True, extra_body={"ignore_eos": True})
        events = iter(stream)
        next(events)
        killed = serve.pid_of("engine chat-0")
        os.kill(killed, signal.SIGKILL)
        with pytest.raises(openai.APIError, match="before the answer was complete") as broken:
            list(events)
        assert broken.value.code == "engine_broke"
        wait_until(lambda: not is_alive(killed), within_s=30)
        short = {**ENDLESS, "max_tokens": 2}
        with pytest.raises(openai.InternalServerError) as refused:
            client.chat.completions.create(**short)
        assert (refused.value.status_code, refused.value.code) == (503, "engine_unavailable")
        assert int(refused.value.response.headers["retry-after"]) >= 1
        wait_until(lambda: serve.pid_of("engine chat-0") != killed, within_s=60)
        serve.wait_ready()
        assert client.chat.completions.create(**short).choices[0].message.content
        client.close()
        assert serve.stop() == 0
