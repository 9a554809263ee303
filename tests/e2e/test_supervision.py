"""The supervisor and its children: who dies, who is restarted, who may finish."""

import json
import os
import signal
import socket
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path

import trustme
from prometheus_client.parser import text_string_to_metric_families

from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess, is_alive
from tests.support.threads import in_thread

MODEL = "scripted"


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    behaviour: Behaviour | None = None,
    gateway: str = "",
    tls: ssl.SSLContext | None = None,
) -> Iterator[ServeProcess]:
    """A served gateway over one scripted engine."""
    engine = ScriptedEngine(behaviour or behaviours.stream(tokens=2), model=MODEL)
    with in_thread(engine):
        config = f'[gateway]\n{gateway}\n[pools.only]\nmodel = "{MODEL}"\nurls = ["{engine.url}"]\n'
        with ServeProcess(folder, *arguments, config=config) as serve:
            serve.tls = tls
            serve.wait_ready()
            yield serve


def ask(serve: ServeProcess, *, stream: bool = False) -> HTTPResponse:
    """An open answer to a chat request on a connection of its own."""
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "hi"}], "stream": stream}).encode()
    request = urllib.request.Request(
        f"{serve.url}/v1/chat/completions", data=body, headers={"content-type": "application/json"}
    )
    answer = urllib.request.urlopen(request, timeout=10, context=serve.tls)
    assert isinstance(answer, HTTPResponse)
    return answer


def is_answered(serve: ServeProcess) -> bool:
    with ask(serve) as answer:
        return "hello" in json.load(answer)["choices"][0]["message"]["content"]


def counters(serve: ServeProcess) -> dict[tuple[object, ...], float]:
    with urllib.request.urlopen(f"{serve.url}/metrics", timeout=10) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in families
            if family.type in ("counter", "histogram")
            for sample in family.samples
        }


def wait_until(is_so: Callable[[], bool], within_s: float, what: str) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"{what} not within {within_s:g} s"
        time.sleep(0.02)


def test_a_killed_worker_is_replaced_while_the_other_serves_and_nothing_counted_is_lost(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as serve:
        assert all(is_answered(serve) for _ in range(10))
        time.sleep(1.2)  # workers leave their numbers for each other once a second
        before = counters(serve)
        killed = serve.pid_of("worker-0")
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: not is_alive(killed), 2, "death")
        time.sleep(0.1)  # until the kernel sends it no more connections
        assert all(is_answered(serve) for _ in range(10))
        wait_until(lambda: serve.pid_of("worker-0") != killed, 10, "a new worker")
        assert len(serve.children()) == 2
        assert all(is_answered(serve) for _ in range(10))
        time.sleep(1.2)
        after = counters(serve)
        gone_back = {name: (value, after.get(name)) for name, value in before.items() if after.get(name, 0) < value}
        assert not gone_back
        total = sum(value for name, value in after.items() if name[0] == "heterodyne_gateway_requests_total")
        assert total == 30
        assert serve.stop() == 0


def test_a_stream_in_flight_may_finish_after_sigterm(tmp_path: Path) -> None:
    with serving(tmp_path, behaviour=behaviours.stream(tokens=20, delay_s=0.05)) as serve:
        with ask(serve, stream=True) as stream:
            first = stream.readline()
            children = serve.children()
            serve.process.send_signal(signal.SIGTERM)
            rest = stream.read()
        assert first.startswith(b"data:")
        assert rest.count(b"hello") == 19
        assert rest.endswith(b"data: [DONE]\n\n")
        assert serve.wait() == 0
        assert not [pid for pid in children if is_alive(pid)]


def test_an_endless_stream_ends_as_an_error_when_its_grace_is_over(tmp_path: Path) -> None:
    endless = behaviours.stream(tokens=10_000, delay_s=0.05)
    with (
        serving(tmp_path, behaviour=endless, gateway="drain_timeout_s = 0.5") as serve,
        ask(serve, stream=True) as stream,
    ):
        stream.readline()
        began_s = time.monotonic()
        assert serve.stop() == 0
        assert time.monotonic() - began_s < 60, "the stream has eight minutes to go"
        last = stream.read().split(b"\n\n")[-2].removeprefix(b"data: ")
        assert json.loads(last)["error"]["code"] == "draining"


def test_ctrl_c_leaves_no_child(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as serve:
        children = serve.children()
        assert len(children) == 2
        assert serve.stop(signal.SIGINT) == 0
        assert not [pid for pid in children if is_alive(pid)]


def test_children_follow_a_killed_supervisor(tmp_path: Path) -> None:
    embeddings = DEFAULT_POOLS["embeddings"]
    settings = {name: getattr(embeddings, name) for name in ("model", "engine", "purpose", "weights", "weights_sha256")}
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    with ServeProcess(tmp_path, config=f"[pools.embeddings]\n{lines}\n") as serve:
        serve.wait_ready()
        children = serve.children()
        assert len(children) == 2, "an engine and a worker"
        serve.process.kill()
        wait_until(lambda: not [pid for pid in children if is_alive(pid)], 5, "the children's end")


def test_a_port_in_use_is_named_with_the_setting_that_changes_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with ServeProcess(tmp_path, "--port", str(port)) as serve:
            assert serve.wait() not in (0, None)
            assert f"127.0.0.1:{port}" in serve.log
            assert "gateway.port" in serve.log
            assert "Traceback" not in serve.log


def test_https_is_served_with_the_configured_certificate(tmp_path: Path) -> None:
    authority, certificate, key = trustme.CA(), tmp_path / "certificate.pem", tmp_path / "key.pem"
    issued = authority.issue_cert("127.0.0.1")
    certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    files = f'tls_certificate = "{certificate}"\ntls_key = "{key}"'
    with serving(tmp_path, gateway=files, tls=trusting) as serve:
        assert serve.url.startswith("https://")
        assert is_answered(serve)
        with ask(serve, stream=True) as stream:
            assert stream.read().endswith(b"data: [DONE]\n\n")
        assert serve.stop() == 0
