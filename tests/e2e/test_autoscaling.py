"""A fleet that grows and shrinks while it serves: the real command, engines as children, no broken stream."""

import json
import math
import os
import re
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from heterodyne.cli.main import cli
from heterodyne.testing.serve_process import ServeProcess, is_alive
from tests.support import small_engine

MODEL = small_engine.MODEL
CONFIG = f"""
[autoscaling]
mode = "act"
interval_s = 1
speed = 300
forecasts = false
idle_s = 4

[pools.chat]
model = "{MODEL}"
engine = "openai"
command = ["{{python}}", "-S", "{small_engine.__file__}", "{{port}}"]

[pools.chat.autoscaling]
minimum = MINIMUM
maximum = 3
requests_per_s = 3
prompt_tokens = 8
output_tokens = 40
cold_start_s = 1
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
        serve.wait_ready(60, replicas=minimum)
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
        until_s = time.monotonic() + 90.0
        while pool(serve)["ready"] < 2:
            assert time.monotonic() < until_s, page(serve)
            asked.ask()
            time.sleep(0.15)
        asked.join()  # this engine's answers cannot be taken up elsewhere
        os.kill(serve.pid_of("engine chat-0"), signal.SIGKILL)
        began = len(serve.events())
        when(lambda: pool(serve)["ready"] >= 2 and "chat-0" in _restarted(serve, began), 90.0, "the killed one is back")
        # As they leave one after the other, each ends what it has.
        until_s = time.monotonic() + 120.0
        while pool(serve)["wanted"] > 1:
            assert time.monotonic() < until_s, page(serve)
            asked.ask()
            time.sleep(2.0)
        asked.join()
        assert not asked.problems
        assert asked.whole > 10
        given_up = [one for one in serve.events() if one["event"] == "replica_given_up"]
        assert given_up
        assert all(one["is_idle"] for one in given_up)
        told = CliRunner().invoke(cli, ["scale", "explain", "--url", serve.admin_url], prog_name="heterodyne")
        assert told.exit_code == 0, told.output
        assert re.search(r"drain \d of chat", told.output)  # by as many as it had grown


def test_requests_are_held_while_a_pool_wakes_from_zero_and_none_is_lost(tmp_path: Path) -> None:
    with serving(tmp_path, minimum=0) as serve:
        when(lambda: is_asleep(page(serve)["models"][0]), 90.0, "the pool is empty")
        (model,) = page(serve)["models"]
        told_s = model["told_wait_s"]
        refused = status_of(serve, deadline_ms=20)
        asked = Asked(serve.url)
        for _ in range(8):
            asked.ask()
        asked.join()
        assert not asked.problems
        assert asked.whole == 8
        assert refused[0] == 503
        assert refused[1] is not None
        assert 1 <= int(refused[1]) <= math.ceil(told_s)
        reasons = [step["reason"] for one in page(serve)["decisions"] for step in one["steps"]]
        assert "idle" in reasons
        assert "wake" in reasons


def is_asleep(model: dict[str, Any]) -> bool:
    """Whether nothing runs or comes, by the driver and by the last look."""
    return model["told_wait_s"] is not None and not any(one["wanted"] or one["warming"] for one in model["pools"])


def status_of(serve: ServeProcess, *, deadline_ms: int) -> tuple[int, str | None]:
    """Of a request that has no time, and when it may come again."""
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "now"}]}).encode()
    headers = {"content-type": "application/json", "x-heterodyne-deadline-ms": str(deadline_ms)}
    request = urllib.request.Request(f"{serve.url}/v1/chat/completions", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["retry-after"]


def _restarted(serve: ServeProcess, since: int) -> set[str]:
    events = serve.events()[since:]
    return {str(one["process"]).removeprefix("engine ") for one in events if one["event"] == "process_started"}
