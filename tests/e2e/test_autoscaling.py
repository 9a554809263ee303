"""A fleet that grows and shrinks while it serves: the real command, emulated engines as children, no broken stream."""

import json
import os
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from heterodyne.cli.main import cli
from heterodyne.testing.serve_process import ServeProcess, is_alive

MODEL = "llama-3.1-8b"
TOKENS = 40
CONFIG = """
[autoscaling]
mode = "act"
interval_s = 1
speed = 150
forecasts = false
idle_s = 4

[pools.chat]
model = "llama-3.1-8b"
engine = "vllm"
command = [
  "{python}", "-m", "heterodyne", "emulate", "--hardware", "h100", "--model", "llama-3.1-8b", "--speed", "0.25",
  "--port", "{port}",
]
[pools.chat.autoscaling]
minimum = MINIMUM
maximum = 3
requests_per_s = 3
prompt_tokens = 8
output_tokens = 40
cold_start_s = 3
"""


class Asked:
    """What streams came to."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._threads: list[threading.Thread] = []
        self.whole = 0
        self.problems: list[str] = []

    def ask(self) -> None:
        """One more stream, beside the others."""
        thread = threading.Thread(target=self._ask)
        self._threads.append(thread)
        thread.start()

    def join(self) -> None:
        """Wait for all of them."""
        for thread in self._threads:
            thread.join(60.0)
            assert not thread.is_alive()

    def _ask(self) -> None:
        body = {
            "model": MODEL,
            "messages": [{"role": "user", "content": "why is the sky blue?"}],
            "max_tokens": TOKENS,
            "ignore_eos": True,
            "stream": True,
        }
        request = urllib.request.Request(
            f"{self._url}/v1/chat/completions",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
        except OSError as error:
            self.problems.append(f"{type(error).__name__}: {error}")
            return
        if text.endswith(b"data: [DONE]\n\n") and b'"error"' not in text:
            self.whole += 1
        else:
            self.problems.append(text[-300:].decode())


@contextmanager
def serving(folder: Path, *, minimum: int) -> Iterator[ServeProcess]:
    with ServeProcess(folder, "--workers", "1", config=CONFIG.replace("MINIMUM", str(minimum))) as serve:
        serve.wait_ready(60)
        yield serve
        children = serve.children()
        assert serve.stop() == 0, serve.log
        assert not [pid for pid in children if is_alive(pid)]


def page(serve: ServeProcess) -> dict[str, Any]:
    with urllib.request.urlopen(f"{serve.admin_url}/admin/scaling?limit=500", timeout=10) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def pool(serve: ServeProcess) -> dict[str, Any]:
    (model,) = page(serve)["models"]
    (found,) = model["pools"]
    return dict(found)


def when(is_so: Callable[[], bool], within_s: float, what: str) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"{what} not within {within_s:g} s"
        time.sleep(0.1)


def test_replicas_come_with_the_load_leave_after_it_and_are_replaced_when_killed(tmp_path: Path) -> None:
    with serving(tmp_path, minimum=1) as serve:
        asked = Asked(serve.url)
        until_s = time.monotonic() + 30.0
        while pool(serve)["ready"] < 2:
            assert time.monotonic() < until_s, page(serve)
            asked.ask()
            time.sleep(0.15)
        os.kill(serve.pid_of("engine chat-0"), signal.SIGKILL)
        began = len(serve.events())
        when(lambda: pool(serve)["ready"] >= 2 and "chat-0" in _restarted(serve, began), 30.0, "the killed one is back")
        # As they leave one after the other, each ends what it has.
        until_s = time.monotonic() + 40.0
        while pool(serve)["wanted"] > 1:
            assert time.monotonic() < until_s, page(serve)
            asked.ask()
            time.sleep(0.9)
        asked.join()
        assert not asked.problems
        assert asked.whole > 10
        given_up = [one for one in serve.events() if one["event"] == "replica_given_up"]
        assert given_up
        assert all(one["is_idle"] for one in given_up)
        told = CliRunner().invoke(cli, ["scale", "explain", "--url", serve.admin_url], prog_name="heterodyne")
        assert told.exit_code == 0, told.output
        assert "drain 1 of chat" in told.output.replace("\n", " ")


def _restarted(serve: ServeProcess, since: int) -> set[str]:
    events = serve.events()[since:]
    return {str(one["process"]).removeprefix("engine ") for one in events if one["event"] == "process_started"}
