"""What an answer cache costs a request, and what a hit takes beside an answer that passes.

    python -m benchmarks.answer_cache.cost

Steps are processor time, the best of several rounds. Whole requests are of one client on loopback to a gateway in
another process, over an engine that answers at once: a hit is compared with a request that passes, in turns.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any, Final

import msgspec

from benchmarks.safety.cost import PROMPT, microseconds
from heterodyne.assembly.gateway import running_gateway
from heterodyne.caching.exact.key import is_deterministic, request_key
from heterodyne.caching.settings import CacheSettings
from heterodyne.config.settings import Settings
from heterodyne.domain.cache_use import EventEdit
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.caching.cache_miss import CacheMiss
from heterodyne.gateway.replay import events_of, renewed, whole_of
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.testing.behaviours import chat_answer, chat_event, stream
from heterodyne.testing.scripted_engine import ScriptedEngine

MODEL: Final = "scripted"
TOKENS: Final = 200
ROUNDS: Final = 5
REQUESTS: Final = 500  # of one kind in a round
BODY: Final[dict[str, Any]] = {
    "model": MODEL,
    "messages": [{"role": "user", "content": PROMPT}],
    "temperature": 0,
    "max_tokens": TOKENS,
}
ANSWER: Final = msgspec.json.encode(chat_answer(" word" * TOKENS, completion_tokens=TOKENS))


def steps() -> list[tuple[str, float]]:
    """Microseconds of each."""
    sent = msgspec.json.encode(BODY)
    request = Request(id="req_1", operation=Operation.CHAT, model=MODEL, body=sent)
    told = renewed(ANSWER, request, 0.0)
    return [
        ("key of a prompt of 200 tokens", microseconds(lambda: _key(sent), times=2000)),
        (
            "an answer of 200 tokens told whole",
            microseconds(lambda: whole_of(renewed(ANSWER, request, 0.0)), times=2000),
        ),
        ("the same as events", microseconds(lambda: events_of(told, request), times=1000)),
        ("an event of a stream that is kept", microseconds(_collect, times=10) / TOKENS),
    ]


def _key(sent: bytes) -> bytes:
    body = msgspec.json.decode(sent)
    assert is_deterministic(body)
    return request_key(body, tenant_salt=bytes(32), model_version="m@1", path="chat")


_EVENTS: Final = [msgspec.json.encode(chat_event(" word")) for _ in range(TOKENS)]


def _collect() -> None:
    miss = CacheMiss(b"", operation=Operation.CHAT, model=MODEL, version="", look=None, settled=lambda *_: None)
    edit: EventEdit = miss.watch(None)
    for event in _EVENTS:
        edit(event)


async def _serve(pipe: Connection) -> None:
    async with AsyncExitStack() as stack:
        engine = ScriptedEngine(stream(TOKENS))
        await engine.open()
        stack.push_async_callback(engine.close)
        settings = Settings(
            gateway=GatewaySettings(port=0),
            pools={"pool": PoolSettings(model=MODEL, urls=(engine.url,))},
            caches={"kept": CacheSettings()},
            telemetry=TelemetrySettings(records="off", log_level="error"),
        )
        replicas, rules = remote_replicas(settings), model_rules(settings)
        gateway = await stack.enter_async_context(running_gateway(settings, replicas, rules=rules))
        while not gateway.takeable():
            await asyncio.sleep(0.01)
        pipe.send(gateway.server.port)
        await asyncio.to_thread(pipe.recv)


def _gateway(pipe: Connection) -> None:
    asyncio.run(_serve(pipe))


async def _round(port: int, sent: bytes) -> float:
    """Seconds of one request, one after another."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = perf_counter()
    for _ in range(REQUESTS):
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
    took_s = (perf_counter() - began) / REQUESTS
    writer.close()
    return took_s


def _post(*headers: bytes) -> bytes:
    body = msgspec.json.encode(BODY)
    lines = (b"host: localhost", b"content-type: application/json", b"content-length: %d" % len(body), *headers)
    return b"POST /v1/chat/completions HTTP/1.1\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + body


async def _compare(port: int) -> tuple[float, float, float]:
    hits, passed, looked = [], [], []
    await _round(port, _post())
    for _ in range(ROUNDS):
        hits.append(await _round(port, _post()))
        passed.append(await _round(port, _post(b"x-heterodyne-cache-ttl-s: 1", b"cache-control: no-cache, no-store")))
        looked.append(await _round(port, _post(b"cache-control: no-cache")))
    return min(hits), min(passed), min(looked)


def _measured(run: Callable[[int], tuple[float, float, float]]) -> tuple[float, float, float]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_gateway, args=(theirs,), daemon=True)
    process.start()
    try:
        return run(ours.recv())
    finally:
        ours.send(None)
        process.join(10)
        if process.is_alive():
            process.kill()


def main() -> None:
    """Print both tables."""
    for name, took_us in steps():
        print(f"{took_us:8.1f} µs  {name}")
    hit_s, passed_s, kept_s = _measured(lambda port: asyncio.run(_compare(port)))
    print(f"{hit_s * 1e6:8.1f} µs  a hit, as its client sees it ({os.cpu_count()} cores)")
    print(
        f"{passed_s * 1e6:8.1f} µs  the same from an engine that answers at once: {passed_s / hit_s:.2f} times as long"
    )
    print(f"{kept_s * 1e6:8.1f} µs  the same, kept anew each time: {kept_s / passed_s:.2f} times that")


if __name__ == "__main__":
    main()
