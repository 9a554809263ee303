"""The real command over real workers: a dry run, a request, and the same request explained."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

MODEL = "m"
CONFIG = """
[gateway]
workers = 2

[pools.cheap]
model = "m"
urls = ["{0}"]
price_usd_per_hour = 1.0

[pools.dear]
model = "m"
urls = ["{1}"]
price_usd_per_hour = 3.0
"""


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    with ExitStack() as stack:
        behaviour = behaviours.stream(5, delay_s=0.01)
        engines = [stack.enter_context(in_thread(ScriptedEngine(behaviour, model=MODEL))) for _ in range(2)]
        config = CONFIG.format(*(engine.url for engine in engines))
        running = stack.enter_context(ServeProcess(tmp_path_factory.mktemp("explain"), config=config))
        running.wait_ready(replicas=2)
        yield running
        assert running.stop() == 0, running.log


def command(serve: ServeProcess, *words: str) -> Result:
    return CliRunner().invoke(cli, ["explain", *words, "--url", serve.admin_url], prog_name="heterodyne")


def test_a_dry_run_is_a_table_and_a_conclusion(serve: ServeProcess) -> None:
    result = command(serve, "--model", MODEL, "--policy", "cost", "--prompt-tokens", "500")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("m: policy cost, interactive, 500 prompt tokens")
    assert [line.split()[0] for line in lines[1:4]] == ["REPLICA", "cheap-0", "dear-0"]
    assert "chosen" in lines[2]
    assert lines[-1].startswith("cheap-0: the cheapest")


def test_requests_are_explained_whichever_worker_had_them(serve: ServeProcess) -> None:
    ids = []
    for _ in range(8):
        body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
        request = urllib.request.Request(
            f"{serve.url}/v1/chat/completions", data=body, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()
            ids.append(answer.headers["x-request-id"])
            assert "; ttft=" in answer.headers["x-heterodyne-decision"]
    latest = json.loads(command(serve, "--latest", "8", "--json").stdout)["decisions"]
    assert [one["id"] for one in latest] == ids[::-1]
    for id in ids:
        result = command(serve, "--request", id)
        assert result.exit_code == 0, result.output
        assert "PREDICTED" in result.stdout
        past = json.loads(command(serve, "--request", id, "--json").stdout)
        assert past["record"]["ttft_ms"] > 0


def test_what_is_not_there_is_said(serve: ServeProcess) -> None:
    unknown = command(serve, "--request", "req_nobody/../x")
    assert unknown.exit_code in (1, 2)
    assert "Traceback" not in unknown.output
    assert "does not exist" in command(serve, "--model", "n").stderr


def test_a_prompt_is_read_from_a_file(serve: ServeProcess, tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("word " * 4000)
    told = json.loads(command(serve, "--model", MODEL, "--prompt-file", str(path), "--json").stdout)
    assert told["asked"]["prompt_tokens"] > 1000
