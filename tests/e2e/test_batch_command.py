"""`heterodyne batch` against a served gateway: a file goes in, its answers come out, in the order of the input."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.batch_kills import MODEL, Counting, line, serving
from tests.support.threads import in_thread

LINES = 60
TIMEOUT_S = 120.0


class Terminal:
    """Runs commands in a folder, against one gateway."""

    def __init__(self, folder: Path, serve: ServeProcess) -> None:
        self.folder = folder
        self._url = serve.url

    def run(self, *words: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, "-m", "heterodyne", "batch", *words, "--url", self._url],
            cwd=self.folder,
            env={**os.environ, "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done


@contextmanager
def terminal(folder: Path, engine: ScriptedEngine) -> Iterator[Terminal]:
    home = folder / "home"
    home.mkdir()
    with in_thread(engine) as running, serving(folder, running.url) as serve:
        yield Terminal(home, serve)


def test_a_file_goes_in_and_its_answers_come_out_in_order(tmp_path: Path) -> None:
    with terminal(tmp_path, ScriptedEngine(Counting(), model=MODEL)) as shell:
        wrong = json.dumps({"custom_id": "wrong", "url": "/v1/embeddings", "body": {"model": MODEL}})
        lines = [line(number) for number in range(LINES)]
        (shell.folder / "in.jsonl").write_text("\n".join([*lines[:7], wrong, *lines[7:]]))
        submitted = shell.run("submit", "in.jsonl", "--wait", "--window", "30m", "--metadata", "job=nightly")
        id = submitted.stdout.strip()
        assert submitted.stderr.endswith(f"completed, {LINES + 1} of {LINES + 1}, 1 failed\n")
        shell.run("fetch", id, "-o", "out.jsonl", "--errors", "bad.jsonl")
        answers = [json.loads(one) for one in (shell.folder / "out.jsonl").read_text().splitlines()]
        assert [one["custom_id"] for one in answers] == [f"r-{number}" for number in range(LINES)]
        (bad,) = (shell.folder / "bad.jsonl").read_text().splitlines()
        assert json.loads(bad)["error"]["code"] == "invalid_url"
        assert shell.run("fetch", id).stdout == (shell.folder / "out.jsonl").read_text()
        assert "is there already" in shell.run("fetch", id, "-o", "out.jsonl", code=2).stderr
        shown = shell.run("show", id).stdout
        assert "Line 8: url: /v1/chat/completions is expected" in shown
        assert "job=nightly" in shown
        assert [one["id"] for one in json.loads(shell.run("list", "--json").stdout)] == [id]
        assert "answered 400: completion_window" in shell.run("submit", "in.jsonl", "--window", "9y", code=1).stderr
        assert "answered 404" in shell.run("show", "batch_no", code=1).stderr


async def never(call: EngineCall) -> None:
    await asyncio.sleep(TIMEOUT_S)


def test_a_batch_that_runs_has_no_results_until_it_is_cancelled(tmp_path: Path) -> None:
    with terminal(tmp_path, ScriptedEngine(never, model=MODEL)) as shell:
        (shell.folder / "in.jsonl").write_text(line(1))
        id = json.loads(shell.run("submit", "in.jsonl", "--json").stdout)["id"]
        assert "is not over yet" in shell.run("fetch", id, code=1).stderr
        assert shell.run("cancel", id).stderr == f"{id} is cancelling\n"
        assert "cancelled" in shell.run("show", id, "--watch", code=1).stdout
        shell.run("fetch", id, "--errors", "bad.jsonl")
        assert json.loads((shell.folder / "bad.jsonl").read_text())["error"]["code"] == "batch_cancelled"
