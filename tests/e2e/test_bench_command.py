"""`heterodyne bench` against a small real server whose manners are chosen by the model's name."""

import asyncio
import gc
import json
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from click.testing import CliRunner, Result

from heterodyne.cli.bench import bench

TOKENS = 5
USAGE = {"prompt_tokens": 11, "completion_tokens": TOKENS, "total_tokens": 11 + TOKENS}

SETTLE_TURNS = 8  # of the loop, in which what was accepted becomes a connection
CLOSE_TIMEOUT_S = 30


class Engine:
    """Answers like an OpenAI server, or as badly as asked."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.connections = 0
        self.stalled = False

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self.exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has left, or the test is over
        finally:
            writer.close()

    async def exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if head.startswith("get /v1/models"):
            write_json(writer, 200, {"object": "list", "data": [{"id": "first"}, {"id": "second"}]})
            return True
        size = int(head.split("content-length: ")[1].split("\r\n")[0])
        body = json.loads(await reader.readexactly(size))
        self.bodies.append(body)
        return await self.answer(writer, body)

    async def answer(self, writer: asyncio.StreamWriter, body: dict[str, Any]) -> bool:
        match body["model"]:
            case "busy":
                write_json(writer, 429, {"error": {"message": "slow down"}})
            case "failing":
                write_json(writer, 503, {"error": {"message": "no replica"}})
            case "silent":
                await asyncio.sleep(30)
            case "vanishing":
                return False
            case "closing":
                write_json(writer, 200, {"choices": [], "usage": USAGE})
                return False
            case "stalling" if not self.stalled:
                self.stalled = True
                await asyncio.sleep(0.5)
                write_json(writer, 200, {"choices": [], "usage": USAGE})
            case model if body.get("stream"):
                return await self.stream(writer, model)
            case _:
                write_json(writer, 200, {"choices": [{"message": {"content": "x"}}], "usage": USAGE})
        return True

    async def stream(self, writer: asyncio.StreamWriter, model: str) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(TOKENS):
            write_event(writer, {"choices": [{"index": 0, "delta": {"content": "x"}}]})
            await asyncio.sleep(0.01)
        if model == "cut":
            return False
        if model == "complaining":
            write_event(writer, {"error": {"message": "engine lost"}})
        if model != "uncounted":
            write_event(writer, {"choices": [], "usage": USAGE})
        writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        return True


def write_json(writer: asyncio.StreamWriter, status: int, value: object) -> None:
    body = json.dumps(value).encode()
    writer.write(f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n".encode())
    writer.write(f"content-length: {len(body)}\r\n\r\n".encode() + body)


def write_event(writer: asyncio.StreamWriter, value: object) -> None:
    event = b"data: " + json.dumps(value).encode() + b"\n\n"
    writer.write(b"%x\r\n%s\r\n" % (len(event), event))


@contextmanager
def serving(engine: Engine, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The engine's URL, while a thread serves it."""
    ready: list[int] = []
    started = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def settle() -> None:
        for _ in range(SETTLE_TURNS):
            await asyncio.sleep(0)

    async def serve() -> None:
        open_: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # Known before its task has run: one that is cancelled first closes nothing.
            open_[asyncio.ensure_future(engine.connection(reader, writer))] = writer

        server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
        ready.append(server.sockets[0].getsockname()[1])
        started.set()
        await stop.wait()
        server.close()
        await settle()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in open_.values():
            writer.transport.abort()
        # However many turns of the loop that takes; what broke them is no matter now.
        closed = asyncio.gather(*(writer.wait_closed() for writer in open_.values()), return_exceptions=True)
        await asyncio.wait_for(closed, CLOSE_TIMEOUT_S)
        await settle()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(60)
        yield f"{'https' if tls else 'http'}://127.0.0.1:{ready[0]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)
        loop.close()
        with warnings.catch_warnings():
            # On a busy machine a connection may come as its server goes; it is let go here, and not in another test.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


def run(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(bench, ["--url", url, *arguments], catch_exceptions=False)


def measured(url: str, *arguments: str) -> dict[str, Any]:
    return json.loads(run(url, "--json", *arguments).stdout)


def test_an_open_loop_streams_from_the_first_listed_model() -> None:
    engine = Engine()
    with serving(engine) as url:
        report = measured(url, "--rate", "100", "--requests", "40", "--prompt-tokens", "uniform:5:20")
    assert (report["model"], report["sent"], report["succeeded"], report["failed"]) == ("first", 40, 40, 0)
    assert report["ttft_ms"]["p50"] < report["e2e_ms"]["p50"]
    assert report["itl_ms"]["count"] == 40 * (TOKENS - 1)
    assert 9 < report["itl_ms"]["p50"] < report["e2e_ms"]["p50"], "the engine pauses for 10 ms, a busy machine for more"
    assert (report["prompt_tokens"], report["completion_tokens"]) == (40 * 11, 40 * TOKENS)
    assert engine.bodies[0]["stream_options"] == {"include_usage": True}
    prompts = {body["messages"][0]["content"] for body in engine.bodies}
    assert len(prompts) == 40
    assert all(5 <= len(prompt.split()) <= 20 for prompt in prompts)


def test_a_closed_loop_keeps_its_connections() -> None:
    engine = Engine()
    with serving(engine) as url:
        report = measured(
            url, "--model", "m", "--concurrency", "3", "--requests", "60", "--no-stream", "--warm-up", "6"
        )
    assert (report["succeeded"], len(engine.bodies)) == (60, 66)
    assert engine.connections <= 8


def test_connections_the_server_closes_are_replaced() -> None:
    with serving(Engine()) as url:
        report = measured(url, "--model", "closing", "--concurrency", "2", "--requests", "20", "--no-stream")
    assert (report["succeeded"], report["failed"]) == (20, 0)


@pytest.mark.parametrize(
    ("model", "failure"),
    [
        ("busy", "http_429"),
        ("failing", "http_5xx"),
        ("silent", "timeout"),
        ("vanishing", "closed"),
        ("cut", "broken_stream"),
        ("complaining", "error_event"),
    ],
)
def test_failures_are_named_and_a_run_of_nothing_else_exits_1(model: str, failure: str) -> None:
    timeout_s = "0.5" if failure == "timeout" else "60"  # a busy machine may hold up an answer, too
    with serving(Engine()) as url:
        result = run(url, "--json", "--model", model, "--concurrency", "2", "--requests", "4", "--timeout", timeout_s)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["failures"] == {failure: 4}


def test_nobody_listening_is_refused() -> None:
    with serving(Engine()) as url:
        pass
    result = run(url, "--json", "--model", "m", "--requests", "3")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["failures"] == {"refused": 3}
    assert "try --model" in run(url).stderr


def test_a_stall_shows_in_the_requests_that_were_meant_to_be_sent_during_it() -> None:
    with serving(Engine()) as url:
        report = measured(
            *(url, "--model", "stalling", "--no-stream", "--rate", "100", "--arrival", "constant"),
            *("--requests", "60", "--in-flight-max", "1"),
        )
    # The first of 60 takes half a second. Its 50 followers, meant to go meanwhile, waited 250 ms on average.
    assert report["succeeded"] == 60
    assert report["e2e_ms"]["p50"] > 100
    assert report["send_delay_ms"]["highest"] > 400


def test_a_server_that_never_answers_cannot_hold_the_run() -> None:
    with serving(Engine()) as url:
        report = measured(
            *(url, "--model", "silent", "--rate", "50", "--requests", "10", "--timeout", "0.3", "--in-flight-max", "2"),
        )
    assert report["failures"] == {"timeout": 10}
    assert report["elapsed_s"] < 30


def test_tokens_without_usage_are_counted_by_events() -> None:
    with serving(Engine()) as url:
        result = run(url, "--model", "uncounted", "--requests", "3")
    assert "3 answers reported no usage" in result.stdout


def test_embeddings_and_completions_have_their_own_bodies() -> None:
    engine = Engine()
    with serving(engine) as url:
        run(url, "--model", "m", "--operation", "embedding", "--requests", "1")
        run(url, "--model", "m", "--operation", "completion", "--requests", "1", "--output-tokens", "9", "--ignore-eos")
    embedding, completion = engine.bodies
    assert set(embedding) == {"model", "input"}
    assert (completion["max_tokens"], completion["ignore_eos"]) == (9, True)
    assert isinstance(completion["prompt"], str)


def test_tls_is_verified_against_the_given_authority(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    with serving(Engine(), context) as url:
        assert measured(url, "--requests", "5", "--ca-file", str(ca_file))["succeeded"] == 5
        assert measured(url, "--requests", "2", "--model", "m")["failures"] == {"unreachable": 2}


def test_a_plan_that_cannot_run_is_a_usage_error() -> None:
    result = run("http://127.0.0.1:9", "--rate", "1", "--concurrency", "1")
    assert result.exit_code == 2
    assert "one of the two" in result.stderr
