"""What guards and caches of two workers did, and kept answers that are dropped in both, from the command line."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from heterodyne.cli.main import cli
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

CONFIG = """
[gateway]
workers = 2

[pools.chat]
model = "chat"
engine = "openai"
urls = ["{url}"]

[caches.kept]
tags = ["faq"]

[guards.topics]
guard = "words"
action = "block"
words = ["moonshot"]
"""


def test_findings_hits_and_a_drop_are_told_of_all_workers(tmp_path: Path) -> None:
    engine = ScriptedEngine(behaviours.answer(), model="chat")
    with in_thread(engine), ServeProcess(tmp_path, config=CONFIG.format(url=engine.url)) as serve:
        serve.wait_ready()
        assert send(serve, "the moonshot") == "blocked"
        eventually(lambda: {send(serve, "hello") for _ in range(8)} == {"hit"})
        found = eventually(lambda: told(serve, "guards", "hits")["hits"])
        assert [(one["verdict"]["policy"], one["verdict"]["rule"]) for one in found] == [("topics", "banned_word")]
        cache = eventually(lambda: counted(told(serve, "cache", "show")))
        assert cache["figures"]["misses"] == 2, "one of each worker"
        done = told(serve, "cache", "drop", "--tag", "faq", "--model", "chat")
        assert done["is_applied"]
        assert "miss" in {send(serve, "hello") for _ in range(8)}
        eventually(lambda: {send(serve, "hello") for _ in range(8)} == {"hit"})
        assert len(engine.calls) == 4
        plain = CliRunner().invoke(cli, ["cache", "drop", "--all", "--url", serve.admin_url])
        assert plain.output == "Dropped: everything.\n"


def eventually(found: Callable[[], Any], within_s: float = 60.0) -> Any:
    """What is found, once it is something."""
    until_s = time.monotonic() + within_s
    while not (something := found()):
        assert time.monotonic() < until_s, "not so in time"
        time.sleep(0.1)
    return something


def counted(page: dict[str, Any]) -> dict[str, Any] | None:
    [row] = page["caches"]
    return row if row["figures"]["hits"] >= 8 else None


def told(serve: ServeProcess, *words: str) -> Any:
    ran = CliRunner().invoke(cli, [*words, "--json", "--url", serve.admin_url])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


def send(serve: ServeProcess, text: str) -> str:
    """What the cache had, each time over a connection of its own."""
    body = {"model": "chat", "temperature": 0, "messages": [{"role": "user", "content": text}]}
    asked = urllib.request.Request(
        f"{serve.url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return str(answer.headers["x-heterodyne-cache"])
    except urllib.error.HTTPError as error:
        return "blocked" if error.code == 400 else str(error.code)
