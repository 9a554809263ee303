"""Every way a replica can fail, and what a client sees of it: alone, and with a healthy replica beside it.

The rows are run as tests and, by `make faults`, into docs/fault-matrix.md.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.emulator.faults import Faults, Garble, Lie
from heterodyne.emulator.server import EmulatorServer
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, ScriptedEngine
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, connected
from tests.support.requests import chat

MODEL = "llama-3.1-8b"
DEADLINE_S = 4.0
TIMES = {"first_byte_timeout_s": 0.6, "stall_timeout_s": 0.6, "connect_timeout_s": 1.0}
BREAKER_ROUNDS = 12  # requests after which a replica that always fails must be known for it
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

# Opens a replica that is well until the second value is called.
Opening = Callable[[AsyncExitStack], Awaitable[tuple[str, Callable[[], Awaitable[None]]]]]


class Row(Struct, frozen=True, kw_only=True):
    """One fault. `alone` are the ends a client may see with no other replica: status, reason."""

    name: str
    open: Opening
    whole: tuple[int, str]
    stream: tuple[int, str]
    is_harmless: bool = False  # a client sees nothing of it at all
    opens_breaker: bool = True


class Seen(Struct, frozen=True, kw_only=True):
    """What one run of one row showed."""

    row: str
    is_stream: bool
    alone: tuple[int, str]
    alone_s: float
    beside: tuple[int, str]
    beside_s: float
    retries: int
    continuations: int
    is_whole: bool  # with a replica beside it the client got every word, once
    attempts_most: int
    breaker: str  # of the failing replica after some rounds, in words


async def run_row(row: Row, *, is_stream: bool, folder: Path) -> Seen:
    """Both situations."""
    folder.mkdir(parents=True, exist_ok=True)
    async with _fleet(row, with_other=False, records=folder / "alone") as (rig, fail):
        await fail()
        alone, alone_s = await _ask(rig, is_stream)
        (record,) = await rig.wait_records(1)
        await _rounds(rig, is_stream)
        breaker = _health_words(rig)
        await rig.wait_empty(DEADLINE_S)
        assert all(one.retries + 1 <= 3 for one in rig.records())
    async with _fleet(row, with_other=True, records=folder / "beside") as (rig, fail):
        expected = (await _ask(rig, True))[0].text
        await fail()
        before = len(await rig.wait_records(1))
        beside, beside_s = await _ask(rig, is_stream)
        other = (await rig.wait_records(before + 1))[-1]
        await rig.wait_empty(DEADLINE_S)
    return Seen(
        row=row.name,
        is_stream=is_stream,
        alone=(record.status, record.reason) if record.status != 200 or record.reason else (alone.status, ""),
        alone_s=alone_s,
        beside=(other.status, other.reason),
        beside_s=beside_s,
        retries=other.retries,
        continuations=other.continuations,
        is_whole=_words(beside, is_stream) == expected,
        attempts_most=max(one.retries + one.continuations + 1 for one in (record, other)),
        breaker=breaker,
    )


@asynccontextmanager
async def _fleet(
    row: Row, *, with_other: bool, records: Path
) -> AsyncIterator[tuple[Rig, Callable[[], Awaitable[None]]]]:
    async with AsyncExitStack() as stack:
        url, fail = await row.open(stack)
        urls = [url]
        if with_other:
            urls.append((await stack.enter_async_context(EmulatorServer(order()))).url)
        pool: dict[str, Any] = {"model": MODEL, "engine": "vllm", "urls": tuple(urls)}
        rig = await stack.enter_async_context(gateway_over(pool=pool, gateway=TIMES, records=records))
        async with asyncio.timeout(30):
            while rig.holds().replicas_takeable < len(urls):
                await asyncio.sleep(0.005)
        yield rig, fail


async def _ask(rig: Rig, is_stream: bool) -> tuple[Answer, float]:
    began_s = time.monotonic()
    messages = [{"role": "user", "content": "why is the sky blue?"}]
    async with connected(rig.port) as client:
        request = chat(
            f"x-heterodyne-deadline-ms: {DEADLINE_S * 1000:.0f}", model=MODEL, messages=messages, stream=is_stream
        )
        answer = await client.ask(request)
    return answer, time.monotonic() - began_s


async def _rounds(rig: Rig, is_stream: bool) -> None:
    """More of the same, all at once: every one of them ends."""
    await asyncio.gather(*(_ask(rig, is_stream) for _ in range(BREAKER_ROUNDS)))


def _health_words(rig: Rig) -> str:
    (fleet_health,) = rig.server.fleet_health().replicas
    obstacle = fleet_health.obstacle
    return f"{fleet_health.breaker}, {obstacle}" if obstacle is not None else str(fleet_health.breaker)


def _words(answer: Answer, is_stream: bool) -> str | None:
    if answer.status != 200:
        return None
    if is_stream:
        return answer.text if b"[DONE]" in answer.body else None
    content: str = msgspec.json.decode(answer.body)["choices"][0]["message"]["content"]
    return content


def _emulated(**faults: Any) -> Opening:
    async def open_one(stack: AsyncExitStack) -> tuple[str, Callable[[], Awaitable[None]]]:
        server = await stack.enter_async_context(EmulatorServer(order()))

        async def fail() -> None:
            server.engine.set_faults(Faults(**faults))

        return server.url, fail

    return open_one


def _silent_midway() -> Opening:
    async def open_one(stack: AsyncExitStack) -> tuple[str, Callable[[], Awaitable[None]]]:
        server = await stack.enter_async_context(EmulatorServer(order()))
        engine = await stack.enter_async_context(ScriptedEngine(_as(server), model=MODEL))

        async def fail() -> None:
            engine.behaviour = _as(server, falls_silent=True)

        return engine.url, fail

    return open_one


def _scripted(behaviour: Behaviour) -> Opening:
    async def open_one(stack: AsyncExitStack) -> tuple[str, Callable[[], Awaitable[None]]]:
        # The healthy replica's own words until it fails, so that it does not matter who is asked first.
        server = await stack.enter_async_context(EmulatorServer(order()))
        engine = await stack.enter_async_context(ScriptedEngine(_as(server), model=MODEL))

        async def fail() -> None:
            engine.behaviour = behaviour

        return engine.url, fail

    return open_one


def _as(server: EmulatorServer, *, falls_silent: bool = False) -> Behaviour:
    """Pass a request on to an emulator and its answer back, or only its beginning."""

    async def behave(call: Any) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        head = f"POST {call.path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(call.body)}\r\n\r\n"
        writer.write(head.encode() + call.body)
        passed = 0
        try:
            while data := await reader.read(64):
                passed += len(data)
                call.write(data)
                if falls_silent and passed > (1200 if call.json.get("stream") else 200):  # some events; half an answer
                    await asyncio.sleep(3600)
            call.close()
        finally:
            writer.close()

    return behave


def _gone(*, comes_back: bool = False) -> Opening:
    async def open_one(stack: AsyncExitStack) -> tuple[str, Callable[[], Awaitable[None]]]:
        server = await stack.enter_async_context(EmulatorServer(order()))

        async def fail() -> None:
            await server.close()
            if comes_back:
                await server.open()

        return server.url, fail

    return open_one


def _flapping() -> Opening:
    async def open_one(stack: AsyncExitStack) -> tuple[str, Callable[[], Awaitable[None]]]:
        server = await stack.enter_async_context(EmulatorServer(order()))

        async def flap() -> None:
            while True:
                server.engine.set_faults(Faults(is_unhealthy=not server.engine.faults.is_unhealthy))
                await asyncio.sleep(0.05)

        async def fail() -> None:
            task = asyncio.get_running_loop().create_task(flap())
            stack.callback(task.cancel)

        return server.url, fail

    return open_one


def _elsewhere(url: str) -> Opening:
    """A replica that never was: nothing answers at its address, by its name, or in its protocol."""

    async def open_one(_: AsyncExitStack) -> tuple[str, Callable[[], Awaitable[None]]]:
        async def fail() -> None: ...

        return url.replace("CLOSED", str(_closed_port())), fail

    return open_one


def _closed_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


BROKE, GARBAGE = (502, "engine_broke"), (502, "engine_garbage")
STALLED, NOBODY, FINE = (504, "engine_stalled"), (503, "engine_unavailable"), (200, "")
ROWS = (
    Row(name="connection refused", open=_gone(), whole=NOBODY, stream=NOBODY),
    Row(name="reset before headers", open=_scripted(behaviours.raw(b"", then="reset")), whole=BROKE, stream=BROKE),
    Row(name="200, then an error", open=_emulated(garble=Garble.ERROR), whole=(502, "engine_refused"),
        stream=(200, "engine_error_event")),
    Row(name="429 with Retry-After", open=_emulated(refuse_status=429, retry_after_s=2), whole=NOBODY, stream=NOBODY,
        opens_breaker=False),
    Row(name="429 without", open=_emulated(refuse_status=429), whole=NOBODY, stream=NOBODY, opens_breaker=False),
    Row(name="503 storm", open=_emulated(refuse_status=503), whole=NOBODY, stream=NOBODY, opens_breaker=False),
    Row(name="500", open=_emulated(refuse_status=500), whole=(502, "engine_refused"), stream=(502, "engine_refused")),
    Row(name="stall before the first token", open=_scripted(behaviours.raw(b"", then="hang")), whole=STALLED,
        stream=STALLED),
    Row(name="stall after the head", open=_scripted(behaviours.raw(EVENTS, then="hang")), whole=STALLED,
        stream=STALLED),
    Row(name="stall mid-stream", open=_silent_midway(), whole=STALLED, stream=STALLED),
    Row(name="malformed chunk", open=_emulated(garble=Garble.FRAME), whole=GARBAGE, stream=GARBAGE),
    Row(name="malformed event", open=_emulated(garble=Garble.EVENT), whole=GARBAGE, stream=GARBAGE),
    Row(name="truncated body", open=_emulated(garble=Garble.CLOSE), whole=BROKE, stream=BROKE),
    Row(name="reset mid-answer", open=_emulated(garble=Garble.CUT), whole=BROKE, stream=BROKE),
    Row(name="ten times slower", open=_emulated(slowdown=10), whole=FINE, stream=FINE, is_harmless=True),
    Row(name="lying metrics", open=_emulated(lie=Lie.IDLE), whole=FINE, stream=FINE, is_harmless=True),
    Row(name="frozen metrics", open=_emulated(lie=Lie.FROZEN), whole=FINE, stream=FINE, is_harmless=True),
    Row(name="metrics that are none", open=_emulated(lie=Lie.GARBAGE), whole=FINE, stream=FINE, is_harmless=True),
    Row(name="flapping health", open=_flapping(), whole=FINE, stream=FINE, is_harmless=True),
    Row(name="replica restart", open=_gone(comes_back=True), whole=FINE, stream=FINE, is_harmless=True),
)  # fmt: skip
# Replicas that never become ready; a fleet of them has nobody to ask, and one of them beside others is not missed.
NEVER_READY = {
    "nobody listens": _elsewhere("http://127.0.0.1:CLOSED"),
    "DNS failure": _elsewhere("http://replica.invalid:8000"),
    "TLS failure": _elsewhere("https://127.0.0.1:CLOSED"),
}
