"""What the audit log says of requests: who asked what and what was answered, as hashes, or as redacted text."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from click.testing import CliRunner, Result

from heterodyne.cli.main import cli
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

CARD = "4111 1111 1111 1111"
SECRETIVE = f"my card is {CARD}"


@contextmanager
def serving(folder: Path) -> Iterator[ServeProcess]:
    with in_thread(ScriptedEngine(behaviours.stream(3), model="chat")) as engine:
        config = f'[audit]\nis_on = true\n[pools.chat]\nmodel = "chat"\nurls = ["{engine.url}"]\nversion = "v7"\n'
        with ServeProcess(folder, config=config) as serve:
            serve.wait_ready()
            yield serve


def say(folder: Path, *words: str) -> Result:
    environment = {"XDG_STATE_HOME": str(folder / "state")}
    command = ["--config", str(folder / "heterodyne.toml"), *words]
    return CliRunner(env=environment).invoke(cli, command, prog_name="heterodyne")


def done(result: Result) -> str:
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def ask(serve: ServeProcess, model: str, *, key: str = "", stream: bool = False) -> tuple[int, str, bytes, bytes]:
    """Status, request id, what was sent and what came."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": SECRETIVE}], "stream": stream}).encode()
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(f"{serve.url}/v1/chat/completions", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers["x-request-id"], body, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["x-request-id"], body, error.read()


def entry_of(folder: Path, request_id: str) -> dict[str, Any]:
    until_s = monotonic() + 10
    while True:
        shown = json.loads(done(say(folder, "audit", "show", "--request", request_id, "--json")))
        if shown:
            entry = shown[0]["entry"]
            assert isinstance(entry, dict)
            return entry
        assert monotonic() < until_s, "the request has no entry"
        sleep(0.1)


def hash_of(folder: Path, project: str, content: bytes, *more: str) -> str:
    file = folder / "content"
    file.write_bytes(content)
    return done(say(folder, "audit", "hash", "--project", project, *more, str(file))).strip()


def test_requests_are_in_the_log_by_the_hashes_of_what_was_said(tmp_path: Path) -> None:
    with serving(tmp_path) as serve:
        for stream in (False, True):
            status, request_id, asked, answered = ask(serve, "chat", stream=stream)
            assert status == 200
            entry = entry_of(tmp_path, request_id)
            assert (entry["status"], entry["model"], entry["version"]) == (200, "chat", "v7")
            assert (entry["key"], entry["project"]) == ("local", "local/local")
            assert entry["prompt_hmac"] == hash_of(tmp_path, "local/local", asked)
            assert entry["answer_hmac"] == hash_of(tmp_path, "local/local", answered, "--answer")
            assert "prompt" not in entry
        status, request_id, asked, _ = ask(serve, "no-such-model")
        refused = entry_of(tmp_path, request_id)
        assert (status, refused["status"], refused["reason"]) == (404, 404, "model_not_found")
        assert refused["prompt_hmac"] == hash_of(tmp_path, "local/local", asked)
        assert CARD not in "".join(path.read_text(errors="replace") for path in (tmp_path / "state").rglob("*.jsonl"))
    done(say(tmp_path, "audit", "verify"))


def test_a_project_that_keeps_content_has_it_redacted(tmp_path: Path) -> None:
    with serving(tmp_path) as serve:
        where = ("--url", serve.admin_url)
        done(say(tmp_path, "tenants", "create", "acme", *where))
        done(say(tmp_path, "tenants", "create", "acme/search", "--keeps-content", *where))
        issued = json.loads(done(say(tmp_path, "keys", "create", "acme/search", "--json", *where)))
        status, request_id, _, _ = ask(serve, "chat", key=issued["secret"])
        assert status == 200
        entry = entry_of(tmp_path, request_id)
        assert entry["project"] == "acme/search"
        assert "my card is" in entry["prompt"]
        assert CARD not in entry["prompt"]
        assert "hello" in entry["answer"]
        assert "prompt_hmac" not in entry


def test_another_api_s_request_is_known_by_what_was_sent_and_got(tmp_path: Path) -> None:
    with serving(tmp_path) as serve:
        for stream in (False, True):
            body = json.dumps(
                {
                    "model": "chat",
                    "max_tokens": 9,
                    "stream": stream,
                    "messages": [{"role": "user", "content": SECRETIVE}],
                }
            ).encode()
            headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
            request = urllib.request.Request(f"{serve.url}/v1/messages", data=body, headers=headers)
            with urllib.request.urlopen(request, timeout=10) as answer:
                request_id, answered = answer.headers["x-request-id"], answer.read()
            assert b'"type":"message' in answered
            entry = entry_of(tmp_path, request_id)
            assert entry["prompt_hmac"] == hash_of(tmp_path, "local/local", body)
            assert entry["answer_hmac"] == hash_of(tmp_path, "local/local", answered, "--answer")
