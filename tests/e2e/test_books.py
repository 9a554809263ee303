"""The books of a real gateway: what was streamed is what is charged, whatever happened on the way."""

import http.client
import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from msgspec.structs import asdict

from heterodyne.domain.record_block import RecordBlock
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

MODEL = "chat"
TOKENS = 20
COLLECT_S = 15.0


@contextmanager
def serving(folder: Path, *engines: ScriptedEngine, workers: int = 1) -> Iterator[ServeProcess]:
    with ExitStack() as stack:
        running = [stack.enter_context(in_thread(engine)) for engine in engines]
        urls = json.dumps([engine.url for engine in running])
        config = f'[pools.own]\nmodel = "{MODEL}"\nengine = "vllm"\nurls = {urls}\nprice_usd_per_hour = 3.6\n'
        serve = stack.enter_context(ServeProcess(folder, "--workers", str(workers), config=config))
        serve.wait_ready()
        yield serve


class Client:
    """One stream, as far as it came."""

    def __init__(self, serve: ServeProcess, leaves_after: int | None = None) -> None:
        self._url = serve.url.removeprefix("http://")
        self._leaves_after = leaves_after
        self.tokens = 0
        self.request_id = ""
        self.is_whole = False

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._url, timeout=20)
        body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "hi"}], "stream": True})
        try:
            connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
            answer = connection.getresponse()
            self.request_id = answer.headers.get("x-request-id", "")
            for line in answer:
                self.tokens += b'"content"' in line
                self.is_whole = self.is_whole or line.startswith(b"data: [DONE]")
                if self._leaves_after is not None and self.tokens >= self._leaves_after:
                    return
        except (http.client.HTTPException, OSError):
            return  # the worker was killed under it
        finally:
            connection.close()


def records(folder: Path) -> dict[str, dict[str, object]]:
    """What the store has, by request."""
    path = folder / "state" / "heterodyne" / "heterodyne.db"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as database:
        blocks = [content for (content,) in database.execute("SELECT content FROM usage_block")]
    found = [record for content in blocks for record in RecordBlock.read(content)]
    by_id = {record.id: asdict(record) for record in found}
    assert len(by_id) == len(found), "each once"
    return by_id


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    until_s = time.monotonic() + COLLECT_S
    while not is_so():
        assert time.monotonic() < until_s, what
        time.sleep(0.1)


def drive(clients: list[Client]) -> None:
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def tokens_of(record: dict[str, object]) -> int:
    count = record["completion_tokens"]
    assert isinstance(count, int)
    return count


def test_whole_cancelled_retried_and_continued_streams_are_charged_to_the_token(tmp_path: Path) -> None:
    good = ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.01), model=MODEL)
    breaking = ScriptedEngine(behaviours.stream_then(tokens=4, then="reset"), model=MODEL)
    refusing = ScriptedEngine(behaviours.refuse(503), model=MODEL)
    with serving(tmp_path, good, breaking, refusing) as serve:
        leaving = [Client(serve, leaves_after=5) for _ in range(6)]
        drive(leaving)
        staying: list[Client] = []
        # Until chance and the breakers have had streams both continued and retried.
        for _ in range(8):
            batch = [Client(serve) for _ in range(12)]
            drive(batch)
            staying += batch
            asked = {client.request_id for client in (*leaving, *staying)}
            wait_for(lambda ids=asked: ids <= set(records(tmp_path)), "every request has a record")  # type: ignore[misc]
            found = records(tmp_path)
            if any(one["continuations"] for one in found.values()) and any(one["retries"] for one in found.values()):
                break
        assert any(client.is_whole for client in staying)
        for client in staying:
            assert tokens_of(found[client.request_id]) == client.tokens
        for client in leaving:
            # What the gateway had sent when it noticed; the client had left before reading all of it.
            assert client.tokens <= tokens_of(found[client.request_id])
        assert any(one["continuations"] for one in found.values())
        assert any(one["retries"] for one in found.values())
        assert {one["project"] for one in found.values()} == {"local/local"}


def test_the_books_balance_after_workers_were_killed_with_sigkill(tmp_path: Path) -> None:
    engine = ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.02), model=MODEL)
    with serving(tmp_path, engine) as serve:
        clients: list[Client] = []
        for moment_s in (0.13, 0.21, 0.29):
            batch = [Client(serve) for _ in range(8)]
            clients += batch
            threads = [threading.Thread(target=client.run) for client in batch]
            for thread in threads:
                thread.start()
            time.sleep(moment_s)
            killed = serve.pid_of("worker-0")
            os.kill(killed, signal.SIGKILL)
            for thread in threads:
                thread.join()
            wait_for(lambda old=killed: serve.pid_of("worker-0") != old, "another worker")  # type: ignore[misc]
            serve.wait_ready()
        whole = [Client(serve) for _ in range(4)]
        drive(whole)
        told = [client for client in clients if client.request_id]
        assert any(0 < client.tokens < TOKENS for client in told), "some were killed in the middle"
        wait_for(
            lambda: {one.request_id for one in (*told, *whole)} <= set(records(tmp_path)), "every request has a record"
        )
        found = records(tmp_path)
        assert [tokens_of(found[client.request_id]) for client in whole] == [TOKENS] * 4
        for client in told:
            # The count is stored before the event goes out: at a death it is right, or over by the one in hand.
            assert 0 <= tokens_of(found[client.request_id]) - client.tokens <= 1
        killed_ones = [one for one in found.values() if one["reason"] == "gateway_killed"]
        assert killed_ones
        assert all(one["status"] == 500 for one in killed_ones)
