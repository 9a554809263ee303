"""Who changed what, in a log that outlives the supervisor: the real command, a real terminal's words, real files."""

import hashlib
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heterodyne.audit.segments import segment_path
from heterodyne.cli.main import cli
from heterodyne.cli.tenants.command import tenants
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

OPERATOR_KEY = "op-secret-of-the-operator"
KEYED = f'[console]\noperator_keys_sha256 = ["{hashlib.sha256(OPERATOR_KEY.encode()).hexdigest()}"]\n'


@pytest.fixture(scope="module")
def pool() -> Iterator[str]:
    """Settings of a fleet that runs elsewhere, which makes for a quick start."""
    with in_thread(ScriptedEngine(behaviours.stream(3), model="chat")) as engine:
        yield f'[pools.chat]\nmodel = "chat"\nurls = ["{engine.url}"]\n'


@contextmanager
def serving(folder: Path, config: str) -> Iterator[ServeProcess]:
    with ServeProcess(folder, config=config) as serve:
        serve.wait_ready()
        yield serve


def say(folder: Path, *words: str) -> Result:
    """`heterodyne WORDS…`, of the same user and with the same settings as the gateway."""
    environment = {"XDG_STATE_HOME": str(folder / "state"), "HETERODYNE_OPERATOR_KEY": OPERATOR_KEY}
    command = ["--config", str(folder / "heterodyne.toml"), *words]
    return CliRunner(env=environment).invoke(cli, command, prog_name="heterodyne")


def done(result: Result) -> str:
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def changes(folder: Path) -> list[dict[str, Any]]:
    """The entries of changes, in the order of the log."""
    shown = json.loads(done(say(folder, "audit", "show", "--changes", "--json", "--limit", "100000")))
    return [one["entry"] for one in shown]


def outcomes(folder: Path) -> list[tuple[str, str, str]]:
    return [
        (entry["what"], entry["subject"], entry.get("outcome", ""))
        for entry in changes(folder)
        if entry.get("outcome") != "asked"
    ]


def post(serve: ServeProcess, path: str, body: object) -> tuple[int, Any]:
    headers = {"content-type": "application/json", "authorization": f"Bearer {OPERATOR_KEY}"}
    request = urllib.request.Request(serve.admin_url + path, data=json.dumps(body).encode(), headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def wait_until(is_so: Callable[[], bool], within_s: float, what: str) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"{what} not within {within_s:g} s"
        time.sleep(0.05)


def test_every_change_is_in_the_log_with_who_and_what_and_no_secret(tmp_path: Path, pool: str) -> None:
    with serving(tmp_path, pool + KEYED) as serve:
        at = ("--url", serve.admin_url)
        done(say(tmp_path, "tenants", "create", "acme", *at))
        done(say(tmp_path, "tenants", "create", "acme/search", "--tier", "gold", *at))
        secret = done(say(tmp_path, "keys", "create", "acme/search", *at)).strip()
        key = json.loads(done(say(tmp_path, "keys", "list", "--json", *at)))[0]["id"]
        done(say(tmp_path, "tenants", "update", "acme/search", "--weight", "3", *at))
        done(say(tmp_path, "keys", "revoke", key, *at))
        done(say(tmp_path, "fleet", "drain", "chat-0", *at))
        done(say(tmp_path, "fleet", "undrain", "--pool", "chat", *at))
        done(say(tmp_path, "fleet", "add", "chat", "http://127.0.0.1:1", *at))
        done(say(tmp_path, "fleet", "remove", "chat-1", *at))
        done(say(tmp_path, "fleet", "reload", *at))
        assert say(tmp_path, "fleet", "drain", "chta-0", *at).exit_code == 2
        assert say(tmp_path, "fleet", "restart", "chat-0", *at).exit_code == 1
        assert say(tmp_path, "tenants", "create", "acme", *at).exit_code == 1
        assert "all as they were written" in done(say(tmp_path, "audit", "verify"))
        assert outcomes(tmp_path) == [
            ("organisations.create", "acme", ""),
            ("projects.create", "acme/search", ""),
            ("keys.create", key, ""),
            ("projects.update", "acme/search", ""),
            ("keys.revoke", key, ""),
            ("fleet.drain", "chat-0", ""),
            ("fleet.undrain", "pool chat", ""),
            ("fleet.add", "http://127.0.0.1:1 to pool chat", ""),
            ("fleet.remove", "chat-1", ""),
            ("fleet.reload", "settings", ""),
            ("fleet.drain", "chta-0", "unknown_name"),
            ("fleet.restart", "chat-0", "change_refused"),
            ("organisations.create", "acme", "already_exists"),
        ]
        entries = changes(tmp_path)
        assert len(entries) == 2 * 13, "that it is asked for, and how it ended"
        operator = hashlib.sha256(OPERATOR_KEY.encode()).hexdigest()
        assert {entry["who"] for entry in entries} == {f"key {operator[:8]}"}
        updated = next(entry for entry in entries if entry["what"] == "projects.update" and "outcome" not in entry)
        assert json.loads(updated["before"])["weight"] == 1.0
        assert json.loads(updated["after"])["weight"] == 3.0
        drained = next(entry for entry in entries if entry["what"] == "fleet.drain" and "outcome" not in entry)
        assert json.loads(drained["before"])[0]["state"] == "ready"
        assert json.loads(drained["after"])[0]["is_drained"] is True
        assert serve.stop() == 0, serve.log
        digest = hashlib.sha256(secret.encode()).hexdigest()
        written = serve.log + "".join(
            path.read_text() for path in (tmp_path / "state/heterodyne/audit").glob("*.jsonl")
        )
        for word in (secret, digest, OPERATOR_KEY, operator):
            assert word not in written
    assert "all as they were written" in done(say(tmp_path, "audit", "verify"))


def test_an_edited_line_is_caught_at_its_place_and_nothing_is_changed_until_that_is_acknowledged(
    tmp_path: Path, pool: str
) -> None:
    with serving(tmp_path, pool + KEYED) as serve:
        for name in ("one", "two", "three"):
            done(say(tmp_path, "tenants", "create", name, "--url", serve.admin_url))
        assert serve.stop() == 0, serve.log
    segment = segment_path(tmp_path / "state/heterodyne/audit", 1)
    lines = segment.read_bytes().splitlines(keepends=True)
    assert b'"two"' in lines[4]
    lines[4] = lines[4].replace(b'"two"', b'"six"')
    segment.write_bytes(b"".join(lines))
    caught = say(tmp_path, "audit", "verify")
    assert caught.exit_code == 1
    assert f"{segment.name}:5: entry 5 altered" in caught.stderr
    with serving(tmp_path, pool + KEYED) as serve:
        status, refused = post(serve, "/admin/organisations", {"id": "four"})
        assert (status, refused["error"]["code"]) == (503, "audit_broken")
        assert "four" not in done(say(tmp_path, "tenants", "list", "--url", serve.admin_url))
        assert [one for one in serve.events() if one["event"] == "audit_not_open"], "it serves, and says what is wrong"
        done(say(tmp_path, "audit", "resume"))
        assert post(serve, "/admin/organisations", {"id": "four"})[0] == 200, "without a restart"
        assert serve.stop() == 0, serve.log
    done(say(tmp_path, "audit", "verify", "--from-segment", "2"))


def test_a_gateway_that_audits_requests_does_not_start_on_a_broken_log(tmp_path: Path, pool: str) -> None:
    config = pool + "[audit]\nis_on = true\n"
    with serving(tmp_path, config) as serve:
        assert serve.stop() == 0, serve.log
    segment = segment_path(tmp_path / "state/heterodyne/audit", 1)
    segment.write_bytes(segment.read_bytes().replace(b'"segment":1', b'"segment":7'))
    with ServeProcess(tmp_path, config=config) as serve:
        assert serve.wait() == 1
        assert "nothing is added to an audit log that is not as it was written" in serve.log


def test_a_killed_supervisor_leaves_no_change_without_an_entry_and_a_log_that_verifies(
    tmp_path: Path, pool: str
) -> None:
    answered: list[str] = []

    def create(prefix: str, url: str) -> None:
        for number in range(1000):
            body = json.dumps({"id": f"{prefix}-{number}"}).encode()
            headers = {"content-type": "application/json", "authorization": f"Bearer {OPERATOR_KEY}"}
            request = urllib.request.Request(f"{url}/admin/organisations", data=body, headers=headers)
            try:
                urllib.request.urlopen(request, timeout=10).close()
            except OSError:
                return  # the supervisor is gone
            answered.append(f"{prefix}-{number}")

    with serving(tmp_path, pool + KEYED) as serve:
        threads = [threading.Thread(target=create, args=(name, serve.admin_url)) for name in "abc"]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answered) > 20, 30, "some changes")
        os.kill(serve.process.pid, signal.SIGKILL)
        for thread in threads:
            thread.join(15)
    with serving(tmp_path, pool + KEYED) as serve:
        assert "all as they were written" in done(say(tmp_path, "audit", "verify"))
        table = done(say(tmp_path, "tenants", "list", "--url", serve.admin_url)).splitlines()
        stored = {line.split()[0] for line in table[1:]}
        entries = changes(tmp_path)
        asked = {entry["subject"] for entry in entries if entry.get("outcome") == "asked"}
        made = {entry["subject"] for entry in entries if "outcome" not in entry}
        assert stored <= asked, "nothing is made that nobody was seen to ask for"
        assert set(answered) <= made, "nothing is answered before its outcome is kept"
        assert set(answered) <= stored
        assert len(asked - made) <= 3, "as many as were under way"
        done(say(tmp_path, "tenants", "create", "after", "--url", serve.admin_url))
        assert serve.stop() == 0, serve.log
    assert ("organisations.create", "after", "") in outcomes(tmp_path)


def test_a_terminal_that_works_on_the_store_is_audited_with_a_gateway_beside_it_or_without(
    tmp_path: Path, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "heterodyne.toml").write_text(pool)
    _at_nobodys_door(monkeypatch)
    done(say(tmp_path, "tenants", "create", "alone"))
    assert outcomes(tmp_path) == [("organisations.create", "alone", "")]
    assert changes(tmp_path)[0]["who"].startswith("terminal ")
    with serving(tmp_path, pool + "[console]\nlistens = false\n") as serve:
        done(say(tmp_path, "tenants", "create", "beside"))
        wait_until(lambda: len(outcomes(tmp_path)) == 2, 10, "the gateway's clerk collects it")
        assert [entry.get("outcome") for entry in changes(tmp_path)] == ["asked", None, "asked", None]
        assert serve.stop() == 0, serve.log
    assert "all as they were written" in done(say(tmp_path, "audit", "verify"))


def _at_nobodys_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another gateway of this machine may have the default address."""
    for command in tenants.commands.values():
        for option in command.params:
            if option.name == "url":
                monkeypatch.setattr(option, "default", "http://127.0.0.1:1")
