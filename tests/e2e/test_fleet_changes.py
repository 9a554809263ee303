"""A fleet that changes while it serves: the real command, real processes, and not one broken stream."""

import hashlib
import json
import os
import pty
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
import trustme
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess, is_alive
from tests.support.threads import in_thread

TOKENS = 40
KEY, OPERATOR_KEY = "sk-first", "op-secret"


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def pool(name: str, *engines: ScriptedEngine, model: str | None = None, more: str = "") -> str:
    urls = json.dumps([engine.url for engine in engines])
    return f'[pools.{name}]\nmodel = "{model or name}"\nurls = {urls}\n{more}\n'


@contextmanager
def engines(*models: str, delay_s: float = 0.02) -> Iterator[list[ScriptedEngine]]:
    with ExitStack() as stack:
        behaviour = behaviours.stream(TOKENS, delay_s=delay_s)
        yield [stack.enter_context(in_thread(ScriptedEngine(behaviour, model=model))) for model in models]


@contextmanager
def serving(folder: Path, config: str, *arguments: str) -> Iterator[ServeProcess]:
    with ServeProcess(folder, *arguments, config=config) as serve:
        serve.wait_ready()
        yield serve
        assert serve.stop() == 0, serve.log


def ask(serve: ServeProcess, model: str, *, key: str | None = None) -> HTTPResponse:
    """An open stream on a connection of its own."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    answer = urllib.request.urlopen(
        urllib.request.Request(f"{serve.url}/v1/chat/completions", data=body, headers=headers), timeout=20
    )
    assert isinstance(answer, HTTPResponse)
    return answer


def is_whole(stream: bytes) -> bool:
    return stream.count(b"hello") == TOKENS and stream.endswith(b"data: [DONE]\n\n")


def status_of(serve: ServeProcess, model: str, *, key: str | None = None) -> int:
    try:
        with ask(serve, model, key=key) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def admin(
    serve: ServeProcess, path: str, body: object = None, *, key: str | None = None, **headers: str
) -> tuple[int, Any]:
    """A GET, or a POST where there is a body."""
    content = None if body is None else json.dumps(body).encode()
    every = {"content-type": "application/json", **headers, **({"authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(serve.admin_url + path, data=content, headers=every)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def fleet(serve: ServeProcess) -> dict[str, dict[str, Any]]:
    status, page = admin(serve, "/admin/fleet")
    assert status == 200
    return {row["id"]: row for row in page["replicas"]}


def state(serve: ServeProcess, replica: str) -> str | None:
    row = fleet(serve).get(replica)
    return None if row is None else row["state"]


def command(serve: ServeProcess, *words: str, key: str | None = None) -> Result:
    env = {"HETERODYNE_OPERATOR_KEY": key}
    return CliRunner(env=env).invoke(cli, ["fleet", *words, "--url", serve.admin_url], prog_name="heterodyne")


def wait_until(is_so: Callable[[], bool], within_s: float, what: str) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"{what} not within {within_s:g} s"
        time.sleep(0.02)


class Clients:
    """Ask for whole streams, again and again, on threads of their own, until told to stop."""

    def __init__(self, serve: ServeProcess, model: str, count: int) -> None:
        self._serve, self._model = serve, model
        self._stop = threading.Event()
        self.whole = 0
        self.broken: list[str] = []
        self._threads = [threading.Thread(target=self._ask) for _ in range(count)]

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    def _ask(self) -> None:
        while not self._stop.is_set():
            try:
                with ask(self._serve, self._model) as answer:
                    said = answer.read()
                if is_whole(said):
                    self.whole += 1
                else:
                    self.broken.append(said[-300:].decode())
            except (OSError, urllib.error.HTTPError) as error:
                self.broken.append(repr(error))


def test_a_reload_replaces_a_pool_under_load_and_every_stream_is_whole(tmp_path: Path) -> None:
    with (
        engines("chat", "chat", "other", delay_s=0.005) as (old, new, other),
        serving(tmp_path, pool("chat", old), "--workers", "2") as serve,
    ):
        with Clients(serve, "chat", 6) as clients:
            wait_until(lambda: clients.whole > 5, 10, "streams")
            serve.config_file.write_text(pool("chat", new) + pool("other", other))
            serve.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "chat-0" not in fleet(serve), 20, "the old replica's leave")
            seen_by_old = len(old.calls)
            more = clients.whole + 12
            wait_until(lambda: clients.whole > more, 10, "streams of the new replica")
        assert clients.broken == []
        assert len(old.calls) == seen_by_old
        assert new.calls
        with ask(serve, "other") as answer:
            assert is_whole(answer.read())
        rows = fleet(serve)
        assert {id: row["url"] for id, row in rows.items()} == {"chat-1": new.url, "other-0": other.url}
        assert all(row["state"] == "ready" for row in rows.values())


def test_a_pool_taken_out_finishes_its_streams_and_is_then_unknown(tmp_path: Path) -> None:
    with (
        engines("chat", "old") as (chat, old),
        serving(tmp_path, pool("chat", chat) + pool("old", old)) as serve,
    ):
        with ask(serve, "old") as stream:
            first = stream.readline()
            serve.config_file.write_text(pool("chat", chat))
            code, answer = admin(serve, "/admin/reload", {})
            assert (code, answer["stopped"], answer["is_applied"]) == (200, ["old-0"], True)
            assert status_of(serve, "old") == 503
            assert state(serve, "old-0") == "leaving"
            assert is_whole(first + stream.read())
        wait_until(lambda: "old-0" not in fleet(serve), 5, "its leave")
        wait_until(lambda: status_of(serve, "old") == 404, 5, "an unknown model")


def test_bad_settings_are_refused_as_a_whole_and_the_old_ones_serve(tmp_path: Path) -> None:
    with engines("chat") as (chat,), serving(tmp_path, pool("chat", chat)) as serve:
        serve.config_file.write_text(
            pool("chat", chat, more='wheels = 4\nhardware = "h1000"') + "[gateway]\nheaders_max = -1\n"
        )
        code, answer = admin(serve, "/admin/reload", {})
        assert code == 422
        assert answer["error"]["code"] == "settings_invalid"
        assert all(word in answer["error"]["message"] for word in ("wheels", "h1000", "gateway.headers_max"))
        serve.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "serving_by_the_old_settings" in serve.log, 5, "a line in the log")
        refused = [one["problem"] for one in serve.events() if one["event"] == "reload_refused"]
        assert len(refused) == 6
        assert status_of(serve, "chat") == 200
        result = command(serve, "reload")
        assert result.exit_code == 2
        assert "3 problems in the settings" in result.stderr
        assert "the last reload was refused" in command(serve, "status").stderr


def test_what_needs_a_restart_is_named_and_keeps_its_value(tmp_path: Path) -> None:
    with engines("chat") as (chat,), serving(tmp_path, pool("chat", chat)) as serve:
        serve.config_file.write_text(
            "[gateway]\nworkers = 3\ndeadline_max_s = 999.0\n[telemetry]\nrecords_bytes_max = 70000\n"
            + pool("chat", chat)
        )
        code, answer = admin(serve, "/admin/reload", {})
        assert code == 200
        assert answer["needs_restart"] == ["gateway.workers", "telemetry.records_bytes_max"]
        assert (answer["started"], answer["stopped"], answer["changed"]) == ([], [], [])
        assert len(serve.children()) == 1
        assert [one["setting"] for one in serve.events() if one["event"] == "needs_a_restart"] == answer[
            "needs_restart"
        ]


def test_a_drained_replica_finishes_its_streams_and_gets_no_others(tmp_path: Path) -> None:
    with engines("chat", "chat") as (one, two), serving(tmp_path, pool("chat", one, two), "--workers", "2") as serve:
        streams = [ask(serve, "chat") for _ in range(6)]
        assert one.calls
        assert two.calls
        result = command(serve, "drain", "chat-0")
        assert result.exit_code == 0, result.output
        before = len(one.calls)
        for _ in range(8):
            assert status_of(serve, "chat") == 200
        assert len(one.calls) == before
        for stream in streams:
            with stream:
                assert is_whole(stream.read())
        assert command(serve, "drain", "chat-0", "--wait", "5").exit_code == 0
        assert state(serve, "chat-0") == "drained"
        # It is somebody's maintenance: reading the settings again does not end it.
        assert admin(serve, "/admin/reload", {})[0] == 200
        assert state(serve, "chat-0") == "drained"
        assert command(serve, "undrain", "--pool", "chat").exit_code == 0
        wait_until(lambda: status_of(serve, "chat") == 200 and len(one.calls) > before, 5, "work for it")


def test_a_killed_worker_comes_back_with_the_latest_fleet(tmp_path: Path) -> None:
    with engines("chat", "late") as (chat, late), serving(tmp_path, pool("chat", chat)) as serve:
        serve.config_file.write_text(pool("chat", chat) + pool("late", late))
        assert admin(serve, "/admin/reload", {})[0] == 200
        assert admin(serve, "/admin/fleet/drain", {"replica": "chat-0"})[0] == 200
        killed = serve.pid_of("worker-0")
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: serve.pid_of("worker-0") != killed, 10, "a new worker")

        def is_served() -> bool:
            try:
                return status_of(serve, "late") == 200
            except OSError:
                return False

        wait_until(is_served, 10, "the pool of the reload")
        assert status_of(serve, "chat") == 503
        _, page = admin(serve, "/admin/fleet")
        assert page["is_applied"]
        assert page["workers"][0]["restarts"] == 1


def test_keys_are_rotated_by_a_reload(tmp_path: Path) -> None:
    def config(*keys: str) -> str:
        return f"[admission]\napi_keys_sha256 = {json.dumps([digest(key) for key in keys])}\n"

    with engines("chat") as (chat,), serving(tmp_path, config(KEY) + pool("chat", chat)) as serve:
        assert status_of(serve, "chat", key=KEY) == 200
        with ask(serve, "chat", key=KEY) as stream:
            serve.config_file.write_text(config("sk-second") + pool("chat", chat))
            assert admin(serve, "/admin/reload", {})[0] == 200
            assert status_of(serve, "chat", key=KEY) == 401
            assert status_of(serve, "chat", key="sk-second") == 200
            assert is_whole(stream.read())


def test_an_open_door_does_not_lose_its_keys_to_a_reload(tmp_path: Path) -> None:
    keyed = f'[admission]\napi_keys_sha256 = ["{digest(KEY)}"]\n'
    with (
        engines("chat") as (chat,),
        serving(tmp_path, f'[gateway]\nhost = "0.0.0.0"\n{keyed}' + pool("chat", chat)) as serve,
    ):
        serve.config_file.write_text(pool("chat", chat))
        code, answer = admin(serve, "/admin/reload", {})
        assert code == 422
        assert "admission.api_keys_sha256" in answer["error"]["message"]
        assert status_of(serve, "chat") == 401


def test_a_renewed_certificate_is_served_without_a_reload(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"

    def renew() -> ssl.SSLContext:
        """A certificate of an authority of its own, and the context that trusts only this one."""
        authority = trustme.CA()
        issued = authority.issue_cert("127.0.0.1")
        certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        key.write_bytes(issued.private_key_pem.bytes())
        trusting = ssl.create_default_context()
        authority.configure_trust(trusting)
        return trusting

    with engines("chat") as (chat,):
        first = renew()
        config = f'[gateway]\ntls_certificate = "{certificate}"\ntls_key = "{key}"\n' + pool("chat", chat)
        with ServeProcess(tmp_path, config=config) as serve:

            def believes(context: ssl.SSLContext) -> bool:
                with (
                    suppress(urllib.error.URLError),
                    urllib.request.urlopen(f"{serve.url}/health/ready", timeout=30, context=context) as answer,
                ):
                    return bool(answer.status == 200)
                return False

            serve.tls = first
            serve.wait_ready(30)
            second = renew()
            wait_until(lambda: believes(second), 30, "the renewed certificate")
            with pytest.raises(urllib.error.URLError, match="certificate"):
                urllib.request.urlopen(f"{serve.url}/health/ready", timeout=30, context=first)

            def is_counted() -> bool:
                with urllib.request.urlopen(f"{serve.url}/metrics", timeout=30, context=second) as answer:
                    return b'\nheterodyne_certificate_expires_timestamp_seconds{setting="gateway.tls_certificate"}' in (
                        answer.read()
                    )

            wait_until(is_counted, 30, "the day on which the certificate is over")
            # A file that cannot be read leaves the last certificate in place, and nothing else is changed meanwhile.
            certificate.write_text("torn")
            wait_until(lambda: "certificate_unreadable" in serve.log, 30, "a word about the torn file")
            status, refusal = admin(serve, "/admin/reload", {})
            assert (status, "gateway.tls_certificate" in str(refusal)) == (422, True)
            assert believes(second)
            assert serve.stop() == 0


def test_a_replica_is_added_removed_and_dropped_by_the_next_reload(tmp_path: Path) -> None:
    with engines("chat", "chat") as (one, two), serving(tmp_path, pool("chat", one)) as serve:
        added = command(serve, "add", "chat", two.url)
        assert added.exit_code == 0, added.output
        assert "until the next reload" in added.stderr
        wait_until(lambda: state(serve, "chat-1") == "ready", 5, "the new replica")
        assert "chat-1*" in command(serve, "status").stdout
        assert admin(serve, "/admin/fleet/add", {"pool": "chat", "url": two.url})[0] == 409
        assert command(serve, "remove", "chat-0", "--wait").exit_code == 0
        assert status_of(serve, "chat") == 200
        assert two.calls
        _, answer = admin(serve, "/admin/reload", {})
        assert (answer["started"], answer["stopped"], answer["dropped"]) == (["chat-0"], ["chat-1"], ["chat-1"])
        assert "addition_dropped" in serve.log
        wait_until(lambda: set(fleet(serve)) == {"chat-0"}, 10, "the end of the addition")
        assert command(serve, "add", "chat", "ftp://nowhere").exit_code == 2
        assert command(serve, "add", "chatt", two.url).exit_code == 2


class KeyedEngine(ScriptedEngine):
    """Remembers every key that it was sent, with health looks too."""

    def __init__(self, model: str) -> None:
        super().__init__(behaviours.stream(TOKENS), model=model)
        self.looks = 0
        self.sent: set[str] = set()

    def answer_get(self, call: EngineCall) -> None:
        self.looks += 1
        self.sent.add(call.headers.get("authorization", ""))
        super().answer_get(call)

    @property
    def keys(self) -> set[str]:
        return self.sent | {call.headers.get("authorization", "") for call in self.calls}


def test_fleet_add_hands_a_pools_key_to_no_origin_that_was_not_declared(tmp_path: Path) -> None:
    with ExitStack() as stack:
        one, listener, declared = (stack.enter_context(in_thread(KeyedEngine("chat"))) for _ in range(3))
        more = f'api_key_env = "UPSTREAM"\napi_key_origins = ["{declared.url}"]'
        serve = stack.enter_context(
            ServeProcess(tmp_path, config=pool("chat", one, more=more), environment={"UPSTREAM": "sk-provider"})
        )
        serve.wait_ready()
        refused = command(serve, "add", "chat", listener.url)
        assert refused.exit_code != 0
        assert "--without-key" in refused.stderr
        assert "pools.chat.api_key_origins" in refused.stderr
        status, answer = admin(serve, "/admin/fleet/add", {"pool": "chat", "url": listener.url})
        assert (status, answer["error"]["code"]) == (409, "change_refused")
        assert command(serve, "add", "chat", declared.url).exit_code == 0
        wait_until(lambda: state(serve, "chat-1") == "ready", 20, "the replica of a declared origin")
        assert declared.keys == one.keys == {"Bearer sk-provider"}
        assert listener.looks == 0
        assert command(serve, "add", "chat", listener.url, "--without-key").exit_code == 0
        wait_until(lambda: state(serve, "chat-2") == "ready", 20, "the replica without a key")
        for id in ("chat-0", "chat-1"):
            assert command(serve, "remove", id, "--wait").exit_code == 0
        assert status_of(serve, "chat") == 200
        assert listener.calls
        assert listener.keys == {""}
        assert serve.stop() == 0, serve.log


def test_the_wrong_operator_is_turned_away(tmp_path: Path) -> None:
    config = f'[console]\noperator_keys_sha256 = ["{digest(OPERATOR_KEY)}"]\n'
    with engines("chat") as (chat,), serving(tmp_path, config + pool("chat", chat)) as serve:
        for key in (None, "wrong"):
            code, answer = admin(serve, "/admin/fleet", key=key)
            assert (code, answer["error"]["code"]) == (401, "invalid_api_key")
            assert admin(serve, "/admin/fleet/drain", {"pool": "chat"}, key=key)[0] == 401
        assert admin(serve, "/health")[0] == 200
        refused = command(serve, "status", key="wrong")
        assert refused.exit_code == 1
        assert "--key-env" in refused.stderr
        assert command(serve, "drain", "chat-0", key=OPERATOR_KEY).exit_code == 0
        changes = [one for one in serve.events() if one["event"] == "fleet_change"]
        assert changes[-1]["who"] == f"key {digest(OPERATOR_KEY)[:8]}"
        assert (changes[-1]["change"], changes[-1]["what"], changes[-1]["outcome"]) == ("drain", "chat-0", "done")
        assert OPERATOR_KEY not in serve.log


def test_unknown_names_get_the_nearest_ones(tmp_path: Path) -> None:
    with engines("chat") as (chat,), serving(tmp_path, pool("chat", chat)) as serve:
        code, answer = admin(serve, "/admin/fleet/drain", {"replica": "chta-0"})
        assert (code, answer["error"]["code"]) == (404, "unknown_name")
        assert '"chat-0"' in answer["error"]["message"]
        result = command(serve, "drain", "chta-0")
        assert result.exit_code == 2
        assert 'did you mean "chat-0"?' in result.stderr
        code, answer = admin(serve, "/admin/fleet/restart", {"replica": "chat-0"})
        assert (code, answer["error"]["code"]) == (409, "change_refused")
        assert "was not started here" in answer["error"]["message"]


def test_a_local_replica_is_restarted_and_replaced_and_serves_again(tmp_path: Path) -> None:
    embeddings = DEFAULT_POOLS["embeddings"]
    names = ("model", "engine", "purpose", "weights", "weights_sha256")
    lines = "\n".join(f"{name} = {json.dumps(getattr(embeddings, name))}" for name in names)
    config = f"[pools.embeddings]\n{lines}\n"

    def embed() -> int:
        body = json.dumps({"model": embeddings.model, "input": "hi"}).encode()
        request = urllib.request.Request(
            f"{serve.url}/v1/embeddings", data=body, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)

    with ServeProcess(tmp_path, config=config) as serve:
        serve.wait_ready()
        before = serve.pid_of("engine embeddings-0")
        assert embed() == 200
        result = command(serve, "restart", "embeddings-0", "--wait", "60")
        assert result.exit_code == 0, result.output
        assert serve.pid_of("engine embeddings-0") != before
        assert not is_alive(before)
        assert embed() == 200
        assert fleet(serve)["embeddings-0"]["restarts"] == 0, "nobody counts what was asked for"
        # Another size is another engine: the new one is ready before the old one leaves.
        serve.config_file.write_text(config + "slots = 2\n")
        _, answer = admin(serve, "/admin/reload", {})
        assert (answer["started"], answer["stopped"]) == (["embeddings-1"], ["embeddings-0"])
        until_s = time.monotonic() + 60
        while "embeddings-0" in fleet(serve):
            assert embed() == 200
            assert time.monotonic() < until_s
        assert embed() == 200
        wait_until(lambda: len(serve.children()) == 2, 10, "the old engine's end")
        assert serve.stop() == 0


def test_a_terminal_that_closes_still_ends_it(tmp_path: Path) -> None:
    with engines("chat") as (chat,):
        (tmp_path / "heterodyne.toml").write_text(pool("chat", chat))
        ours, theirs = pty.openpty()
        take_terminal = (
            "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
        )
        serve = [sys.executable, "-m", "heterodyne", "serve", "--port", "0"]
        with (tmp_path / "out").open("wb") as out, (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", take_terminal, *serve],
                stdin=theirs,
                stdout=out,
                stderr=log,
                start_new_session=True,
                cwd=tmp_path,
                env={**os.environ, "HETERODYNE_CONSOLE__PORT": "0"},
            )
        try:
            os.close(theirs)
            wait_until(lambda: "is ready on" in (tmp_path / "out").read_text(), 30, "the banner")
            process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reloaded" in (tmp_path / "log").read_text(), 5, "a reload")
            assert process.poll() is None
            os.close(ours)
            assert process.wait(10) == 0
        finally:
            process.kill()
