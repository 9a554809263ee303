"""Tenants and keys of the real product: made by the real commands, held against every worker, and never shown."""

import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner

from heterodyne.cli.keys.command import keys as keys_group
from heterodyne.cli.main import cli
from heterodyne.cli.tenants.command import tenants as tenants_group
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

BIG, SMALL = "big-chat", "small-chat"
WORKERS = ("--workers", "2")
ASKS_MAX = 200  # connections until each of two workers has had one: fewer, but for one chance in 2^199


class Reply(NamedTuple):
    status: int
    worker: str  # a word that only its requests have
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["error"]["code"])


class Served:
    """A gateway of two workers and two models, and the commands that change its tenants."""

    def __init__(self, serve: ServeProcess) -> None:
        serve.wait_ready()
        self.serve = serve
        self.url = serve.url.replace("0.0.0.0", "127.0.0.1")
        self.secrets: list[str] = []
        wait_until(self._is_ready_everywhere, 20, "every worker knows every engine")

    def say(self, *words: str) -> str:
        """A command against the admin API; what it prints."""
        return command(*words, "--url", self.serve.admin_url)

    def json(self, *words: str) -> Any:
        return json.loads(self.say(*words, "--json"))

    def project(self, name: str, *words: str) -> str:
        organisation = name.partition("/")[0]
        if organisation not in [one["id"] for one in self.json("tenants", "list")["organisations"]]:
            self.say("tenants", "create", organisation)
        self.say("tenants", "create", name, *words)
        return name

    def issue(self, project: str, *words: str) -> tuple[str, str]:
        """A new key: its id and its secret."""
        issued = self.json("keys", "create", project, *words)
        self.secrets.append(issued["secret"])
        return issued["key"]["id"], issued["secret"]

    def ask(self, key: str | None, path: str = "/v1/chat/completions", **fields: Any) -> Reply:
        return ask(self.url, key, path, **fields)

    def everywhere(self, key: str | None, path: str = "/v1/chat/completions", **fields: Any) -> list[Reply]:
        """The same of every worker: each answers at least twice."""
        replies: list[Reply] = []
        for _ in range(ASKS_MAX):
            replies.append(self.ask(key, path, **fields))
            seen = [reply.worker for reply in replies]
            if len(set(seen)) == 2 and min(map(seen.count, set(seen))) >= 2:
                return replies
        raise AssertionError(f"one worker never answered: {set(seen)}")

    def statuses(self, key: str | None, **fields: Any) -> set[int]:
        return {reply.status for reply in self.everywhere(key, **fields)}

    def _is_ready_everywhere(self) -> bool:
        return all(b"not_ready" not in reply.body for reply in self.everywhere(None, "/health/ready"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Shared by the tests of this file, each with tenants of its own; keys exist from the beginning."""
    with two_models() as pools, ServeProcess(tmp_path_factory.mktemp("served"), *WORKERS, config=pools) as serve:
        gateway = Served(serve)
        gateway.issue(gateway.project("first/first"))
        yield gateway
        assert serve.stop() == 0, serve.log


def test_a_key_works_at_once_on_every_worker_and_nobody_needs_to_wait(served: Served) -> None:
    _, secret = served.issue(served.project("acme/search"))
    assert served.statuses(secret) == {200}
    assert served.statuses(None) == {401}, "once there are keys, loopback needs one too"
    assert served.statuses("anything") == {401}


def test_every_key_that_does_not_open_is_answered_alike(served: Served) -> None:
    project = served.project("alike/search")
    revoked_id, revoked = served.issue(project)
    served.say("keys", "revoke", revoked_id)
    _, expired = served.issue(project, "--expires-in", "1s")
    _, disabled = served.issue(served.project("alike/disabled"))
    served.say("tenants", "disable", "alike/disabled")
    _, closed = served.issue(served.project("closed/search"))
    served.say("tenants", "disable", "closed")
    wait_until(lambda: served.ask(expired).status == 401, 10, "the key expires")
    never = "hd-" + "x" * 43
    bodies = set()
    for secret in (never, revoked, expired, disabled, closed, "sk-other", never.upper(), expired + "x"):
        for reply in served.everywhere(secret):
            assert reply.status == 401
            assert secret not in str(reply.headers)
            bodies.add(reply.body)
    [body] = bodies
    assert json.loads(body)["error"]["code"] == "invalid_api_key"
    served.say("tenants", "enable", "alike/disabled")
    assert served.statuses(disabled) == {200}, "enabled again, it works as before"


@pytest.mark.parametrize(
    ("scope", "fields", "param"),
    [
        (f"models={SMALL}", {"model": BIG}, "model"),
        ("models=other-*", {}, "model"),
        ("operations=embedding,tokenize", {}, None),
        ("classes=batch", {}, None),
        ("output_tokens_max=10", {"max_tokens": 11}, "max_tokens"),
        ("context_tokens_max=50", {"messages": [{"role": "user", "content": "word " * 500}]}, None),
    ],
    ids=["model", "models by beginning", "endpoint", "class", "answer", "context"],
)
def test_what_is_outside_the_scopes_of_a_key_is_not_allowed(
    served: Served, scope: str, fields: dict[str, Any], param: str | None, request: pytest.FixtureRequest
) -> None:
    name = f"scoped/{request.node.callspec.id.replace(' ', '-')}"
    project = served.project(name)
    _, secret = served.issue(project, "--scope", scope)
    reply = served.ask(secret, **fields)
    assert (reply.status, reply.code) == (403, "not_allowed")
    assert json.loads(reply.body)["error"]["param"] == param
    _, free = served.issue(project)
    assert served.ask(free, **fields).status == 200, "another key of the project may"
    served.say("tenants", "update", name, "--scope", scope)
    assert served.statuses(free, **fields) == {403}, "not when its project may not"


def test_models_are_listed_as_far_as_a_key_may_use_them(served: Served) -> None:
    project = served.project("listed/search")
    _, small = served.issue(project, "--scope", "models=small-*")
    _, all_of_them = served.issue(project)
    assert _models(served, small) == [SMALL]
    assert _models(served, all_of_them) == [BIG, SMALL]
    assert served.ask(small, f"/v1/models/{SMALL}").status == 200
    assert served.ask(small, f"/v1/models/{BIG}").status == 403
    assert served.ask(None, "/v1/models").status == 401


def test_a_rotated_key_works_beside_its_successor_for_the_overlap(served: Served) -> None:
    project = served.project("rotated/search")
    first_id, first = served.issue(project, "--scope", f"models={SMALL}")
    rotated = served.json("keys", "rotate", first_id, "--overlap", "1h")
    second_id, second = rotated["key"]["id"], rotated["secret"]
    served.secrets.append(second)
    for secret in (first, second):
        assert served.statuses(secret, model=SMALL) == {200}
        assert served.statuses(secret, model=BIG) == {403}, "the same rights"
    third = served.json("keys", "rotate", second_id, "--overlap", "0")["secret"]
    served.secrets.append(third)
    assert served.statuses(second) == {401}, "without an overlap it ends at once"
    assert served.statuses(third, model=SMALL) == {200}


def test_nothing_is_accepted_after_a_revocation_was_answered(served: Served) -> None:
    project = served.project("revoked/search")
    for _ in range(3):
        key_id, secret = served.issue(project)
        assert served.ask(secret).status == 200
        with Hammer(partial(_timed, served, secret), threads=4) as hammer:
            hammer.wait_count(20)
            served.say("keys", "revoke", key_id)
            revoked_s = time.monotonic()
            assert served.statuses(secret) == {401}
        assert {status for _, status in hammer.saw} == {200, 401}
        assert {status for began_s, status in hammer.saw if began_s > revoked_s} == {401}


def test_a_limit_of_a_key_is_exact_over_two_workers(served: Served) -> None:
    project = served.project("limited/search")
    _, secret = served.issue(project, "--limit", "requests_per_day=40", "--limit", "tokens_per_day=1000000")
    with Hammer(lambda: served.ask(secret), threads=8) as hammer:
        hammer.wait_count(160)
    taken = [reply for reply in hammer.saw if reply.status == 200]
    assert len(taken) == 40
    assert len({reply.worker for reply in taken}) == 2, "both workers had a part"
    refused = [reply for reply in hammer.saw if reply.status != 200]
    assert {(reply.status, reply.code) for reply in refused} == {(429, "rate_limit_exceeded")}
    assert all({"retry-after", "x-ratelimit-remaining-requests"} <= set(reply.headers) for reply in refused)
    served.say("tenants", "update", project, "--limit", "requests_per_day=1000")
    assert served.ask(secret).status == 429, "the key's own limit still holds"


def test_a_worker_that_dies_comes_back_with_the_keys_of_now(served: Served) -> None:
    project = served.project("restarted/search")
    old_id, old = served.issue(project)
    pid = served.serve.pid_of("worker-0")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: served.serve.pid_of("worker-0") != pid, 10, "a new worker")
    served.say("keys", "revoke", old_id)
    _, new = served.issue(project)
    wait_until(lambda: _answers(served, new), 20, "both workers answer")
    assert served.statuses(old) == {401}
    assert served.statuses(new) == {200}


def test_secrets_are_shown_once_and_nowhere_else(served: Served) -> None:
    """The last of those that share a gateway: by now it has seen many."""
    _, secret = served.issue(served.project("hidden/search"), "--name", "told")
    key_words = served.say("keys", "list", "--all", "--json") + served.say("tenants", "list", "--json")
    metrics = served.ask(None, "/metrics").body.decode()
    log = served.serve.log
    folder = served.serve.config_file.parent
    stored = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert "told" in key_words
    assert len(served.secrets) > 10
    for one in served.secrets:
        assert one not in key_words
        assert one not in metrics
        assert one not in log
        assert not any(one.encode() in content for content in stored)
    assert "hd-" not in metrics
    assert served.ask(secret + "x", model=secret).body.decode().count(secret) == 0


def test_a_key_made_while_nothing_runs_works_after_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _find_no_gateway(monkeypatch)
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    config = tmp_path / "other.toml"
    with two_models() as pools:
        config.write_text(pools, encoding="utf-8")
        at = ("--config", str(config))
        command(*at, "tenants", "create", "acme", env=state)
        command(*at, "tenants", "create", "acme/search", env=state)
        secret = command(*at, "keys", "create", "acme/search", env=state).strip()
        with ServeProcess(tmp_path, *WORKERS, config=pools) as serve:
            served = Served(serve)
            assert served.statuses(secret) == {200}
            assert served.statuses(None) == {401}
            # Where nobody answers at the address of the admin API, the store itself is changed, and followed.
            key_id = served.json("keys", "list")[0]["id"]
            command(*at, "keys", "revoke", key_id, env=state)
            wait_until(lambda: served.statuses(secret) == {401}, 10, "the change is noticed")
            assert serve.stop() == 0, serve.log


def test_an_open_door_that_requires_keys_refuses_everybody_until_there_is_one(tmp_path: Path) -> None:
    with two_models() as pools:
        config = f'[admission]\nrequires_key = true\n[gateway]\nhost = "0.0.0.0"\n{pools}'
        with ServeProcess(tmp_path, *WORKERS, config=config) as serve:
            served = Served(serve)
            assert served.statuses(None) == {401}
            assert served.statuses("anything") == {401}
            _, secret = served.issue(served.project("acme/search"))
            assert served.statuses(secret) == {200}
            assert served.statuses(None) == {401}
            assert serve.stop() == 0, serve.log


def test_without_keys_loopback_serves_anybody_until_the_first_one(tmp_path: Path) -> None:
    with two_models() as pools, ServeProcess(tmp_path, *WORKERS, config=pools) as serve:
        served = Served(serve)
        assert served.statuses(None) == {200}
        assert served.statuses("whatever a client insists on") == {200}
        assert served.statuses("hd-" + "x" * 43) == {401}, "one that looks like ours must be ours"
        project = served.project("acme/search")
        assert served.statuses(None) == {200}, "a tenant without a key changes nothing"
        key_id, _ = served.issue(project)
        assert served.statuses(None) == {401}
        served.say("keys", "revoke", key_id)
        assert served.statuses(None) == {401}, "to revoke the last key does not open the door"
        assert serve.stop() == 0, serve.log


class Hammer:
    """The same question again and again on threads of its own."""

    def __init__(self, question: Callable[[], Any], threads: int) -> None:
        self.saw: list[Any] = []
        self._question = question
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(threads)]

    def __enter__(self) -> "Hammer":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    def wait_count(self, count: int) -> None:
        wait_until(lambda: len(self.saw) >= count, 30, f"{count} answers")

    def _ask(self) -> None:
        while not self._stop.is_set():
            self.saw.append(self._question())


@contextmanager
def two_models() -> Iterator[str]:
    """Engines of two models, and the pools that name them."""
    with ExitStack() as stack:
        pools = ""
        for name in (BIG, SMALL):
            engine = stack.enter_context(in_thread(ScriptedEngine(behaviours.stream(3), model=name)))
            pools += f'[pools.{name}]\nmodel = "{name}"\nurls = ["{engine.url}"]\n'
        yield pools


def command(*words: str, env: dict[str, str] | None = None) -> str:
    """What a command prints; it has to succeed."""
    result = CliRunner(env=env).invoke(cli, list(words), prog_name="heterodyne")
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.stdout


def ask(url: str, key: str | None, path: str = "/v1/chat/completions", **fields: Any) -> Reply:
    """One request on a connection of its own; a GET for anything but inference."""
    headers = {"content-type": "application/json", **({} if key is None else {"authorization": f"Bearer {key}"})}
    body = {"model": BIG, "messages": [{"role": "user", "content": "hi"}], **fields}
    data = json.dumps(body).encode() if path == "/v1/chat/completions" else None
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url + path, data=data, headers=headers), timeout=20
        ) as reply:
            return _reply(reply.status, reply.headers, reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return _reply(error.code, error.headers, error.read())


def wait_until(is_so: Callable[[], bool], within_s: float, what: str) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"{what}: not within {within_s:g} s"
        time.sleep(0.02)


def _reply(status: int, headers: Any, body: bytes) -> Reply:
    lower = {name.lower(): value for name, value in headers.items()}
    return Reply(status, lower["x-request-id"][:-8], lower, body)


def _models(served: Served, key: str) -> list[str]:
    return [one["id"] for one in json.loads(served.ask(key, "/v1/models").body)["data"]]


def _answers(served: Served, key: str) -> bool:
    try:
        return served.statuses(key) == {200}
    except (AssertionError, OSError):
        return False


def _timed(served: Served, key: str) -> tuple[float, int]:
    """When it was asked, and the answer."""
    began_s = time.monotonic()
    return began_s, served.ask(key).status


def _find_no_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands look for an admin API where nobody listens, unless they are told where it is."""
    for group in (tenants_group, keys_group):
        for one in group.commands.values():
            for option in one.params:
                if isinstance(option, click.Option) and option.name == "url":
                    monkeypatch.setattr(option, "default", "http://127.0.0.1:1")
