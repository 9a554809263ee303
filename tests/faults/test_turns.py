"""No request holds up a worker's loop: every field of every dialect is attacked while somebody else is served."""

import asyncio
import os
import re
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from heterodyne.gateway.body_size import LARGE_BYTES, SMALL_BYTES
from heterodyne.gateway.relay import EVENT_BYTES_MAX
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess, is_alive
from tests.support.attacks import SHAPES, Attack, attacks, value
from tests.support.raw_client import Answer, connected
from tests.support.requests import MODEL, chat, get

TURN_S_MAX = 0.02  # of processor time, on a machine that others use too; on a quiet one it is below 5 ms
# What a host takes from its guests counts as processor time of whoever ran: tens of milliseconds, now and then. What
# holds up the loop does so every time.
TRIES = 10
BYSTANDER_S_MAX = 3.0  # by the wall's clock, which this machine's other work is in: a stall took twice as long
BESIDE = 4096  # bytes of a body that are not the attack
SIZES = (SMALL_BYTES - BESIDE, LARGE_BYTES - BESIDE)  # read in the loop, whatever they hold, or if they hold little
ANSWER_TIMEOUT_S = 60.0
BODY_BYTES_MAX = GatewaySettings().body_bytes_max
ANSWER_BYTES_MAX = GatewaySettings().answer_bytes_max // 4
HEAD_BYTES = 30_000
HEADERS = ("authorization", "content-type", "host", "x-heterodyne-session", "x-heterodyne-class", "x-heterodyne-pool")
HEADERS += ("x-heterodyne-policy", "x-heterodyne-slo-ttft-ms", "x-heterodyne-deadline-ms", "traceparent", "cookie")
BOTH = (b'bucket{clock="processor",le="0.02"', b'count{clock="processor"')
SLOW = re.compile(rb"heterodyne_gateway_loop_slow_turn_seconds_(%b)\} ([0-9.e-]+)" % b"|".join(map(re.escape, BOTH)))
CONFIG = """
[audit]
is_on = true

[pools.attacked]
model = "{model}"
urls = {urls}
"""
GUARDS = """
[guards.private]
guard = "pii"
action = "mask"
[guards.secrets]
guard = "secrets"
action = "block"
[guards.calls]
guard = "tool_calls"
action = "block"
"""
SAID = {  # what is dear to look at, and is no secret
    "numbers": ", ".join(str(number * 7919 % 1_000_003) for number in range(7500)),
    "dates": "2031-05-17 12:30 " * 3500,
    "names": "John Smith and Mary Jones, " * 2200,
    "addresses": " ".join(f"10.0.{number % 200}.{number % 250}" for number in range(5000)),
    "digits": "7" * 40_000,
    "a token": "aB3/x9-Qz:" * 4000,
    "white space": " \n" * 20_000,
}
EXPECTED = (200, 400, 404)
ANSWER = msgspec.json.encode(behaviours.chat_answer())


class Attacked:
    """A gateway, how often its loop was held up, and somebody who is served by it meanwhile."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.waits_s: list[float] = []
        self.is_over = threading.Event()

    async def ask(self, pieces: tuple[bytes, ...]) -> Answer:
        async with connected(self.port) as client:
            await client.send(*pieces)
            return await client.answer(ANSWER_TIMEOUT_S)

    async def check(self, culprit: str, attack: Callable[[], Awaitable[None]]) -> None:
        """Attack, and again where a turn was too long: what holds up the loop does so every time."""
        for _ in range(TRIES):
            before = await self.turns_too_long()
            await attack()
            if await self.turns_too_long() == before:
                return
        pytest.fail(f"{culprit}: a turn of more than {1000 * TURN_S_MAX:g} ms, {TRIES} times of {TRIES}")

    async def turns_too_long(self) -> float:
        """How many there were so far."""
        page = (await self.ask((get("/metrics"),))).body
        below, count = ([float(number) for kind, number in SLOW.findall(page) if kind.startswith(of)] for of in BOTH)
        return sum(count) - sum(below)

    def bystand(self) -> None:
        """In a thread, and with what the gateway answers by itself: this one's loop is busy with its attacks."""
        request = get("/v1/models")
        with socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_TIMEOUT_S) as client:
            while not self.is_over.wait(0.01):
                asked_s = time.monotonic()
                client.sendall(request)
                got = b""
                while not got.endswith(b"}"):
                    got += client.recv(65536)
                    assert got.startswith(b"HTTP/1.1 200")
                self.waits_s.append(time.monotonic() - asked_s)


@asynccontextmanager
async def attacked(folder: Path, behave: Behaviour | None = None, more: str = "") -> AsyncIterator[Attacked]:
    """A real worker: its loop shares its thread with nobody."""

    async def answer(call: EngineCall) -> None:
        for engine in engines:
            engine.calls.clear()  # bodies are large
        call.whole(200, ANSWER)

    engines = [ScriptedEngine(behave or answer) for _ in range(2)]
    for engine in engines:
        await engine.open()
    config = CONFIG.format(model=MODEL, urls=msgspec.json.encode([engine.url for engine in engines]).decode())
    try:
        with ServeProcess(folder, config=config + more) as serve:
            await asyncio.to_thread(serve.wait_ready, 60)
            rig = Attacked(urlsplit(serve.url).port or 0)
            await rig.ask(tuple(ATTACKS[0].request(value("text", 2 * LARGE_BYTES))))  # the process beside it starts
            bystander = asyncio.create_task(asyncio.to_thread(rig.bystand))
            try:
                yield rig
            finally:
                rig.is_over.set()
                await bystander
    finally:
        for engine in engines:
            await engine.close()
    assert rig.waits_s
    assert max(rig.waits_s) < BYSTANDER_S_MAX


ATTACKS = tuple(attacks())


@pytest.mark.timeout(300)
async def test_no_field_of_any_dialect_holds_up_the_loop(tmp_path: Path) -> None:
    async def attack(shape: str, size: int) -> None:
        async with connected(rig.port) as client:
            for one in ATTACKS:
                await client.send(*one.request(value(shape, size)))
                answer = await client.answer(ANSWER_TIMEOUT_S)
                assert answer.status in EXPECTED, f"{shape} in {one.path} {one.field}: {answer}"

    async with attacked(tmp_path) as rig:
        for shape, size in product(SHAPES, SIZES):
            await rig.check(f"{shape} of {size} bytes", partial(attack, shape, size))


@pytest.mark.timeout(300)
async def test_no_body_of_the_largest_size_holds_up_the_loop(tmp_path: Path) -> None:
    async def attack(one: Attack, largest: bytes) -> None:
        answer = await rig.ask(one.request(largest))
        assert answer.status in EXPECTED, f"{one.path} {one.field}: {answer}"

    async with attacked(tmp_path) as rig:
        for number, shape in enumerate(SHAPES):
            largest = value(shape, BODY_BYTES_MAX - BESIDE)
            for one in ATTACKS[number :: 7 * len(SHAPES)]:  # all of them would take an hour
                await rig.check(f"{shape} in {one.path} {one.field}", partial(attack, one, largest))


@pytest.mark.timeout(300)
async def test_no_header_holds_up_the_loop(tmp_path: Path) -> None:
    async def attack(name: str) -> None:
        for sign in ("a", "7", ",", "%"):
            answer = await rig.ask((chat(f"{name}: {sign * HEAD_BYTES}"),))
            assert answer.status < 500, name

    async def attack_path(path: str) -> None:
        assert (await rig.ask((get(path + "a" * HEAD_BYTES),))).status == 404

    async with attacked(tmp_path) as rig:
        for name in HEADERS:
            await rig.check(f"the header {name}", partial(attack, name))
        for path in ("/v1/models/", "/v2/models/", "/"):
            await rig.check(f"a path after {path}", partial(attack_path, path))


@pytest.mark.timeout(300)
async def test_no_answer_of_an_engine_holds_up_the_loop(tmp_path: Path) -> None:
    async def behave(call: EngineCall) -> None:
        is_stream, shape = call.json.get("stream"), str(call.json["user"])
        if is_stream:
            call.head(200, *behaviours.EVENT_STREAM)
            long = value(shape, EVENT_BYTES_MAX - BESIDE)
            for _ in range(4):
                call.chunk(b'data: {"choices":[{"index":0,"delta":{},"logprobs":' + long + b"}]}\n\n")
            call.chunk(b"data: [DONE]\n\n")
            call.chunk(b"")
        else:
            long = value(shape, ANSWER_BYTES_MAX - BESIDE)
            call.head(200, f"content-length: {len(ANSWER) + len(long) + 5}")
            call.write(ANSWER[:-1] + b',"x":' + long + b"}")

    async def attack(shape: str, *, stream: bool) -> None:
        answer = await rig.ask((chat(user=shape, stream=stream),))
        assert answer.status == 200
        assert len(answer.body) > (EVENT_BYTES_MAX if stream else ANSWER_BYTES_MAX - 2 * BESIDE)
        assert not stream or answer.body.endswith(b"[DONE]\n\n")

    async with attacked(tmp_path, behave) as rig:
        for shape, stream in product(("text", "ids", "objects"), (False, True)):
            culprit = f"{shape} in {'a stream' if stream else 'a whole answer'}"
            await rig.check(culprit, partial(attack, shape, stream=stream))


@pytest.mark.timeout(300)
async def test_no_stream_that_policies_look_at_holds_up_the_loop(tmp_path: Path) -> None:
    """In one event, and in many that come at once; in words, and in a call that is held until it was judged."""

    def event(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: %b\n\n" % msgspec.json.encode({"id": "c", "choices": [choice]})

    async def behave(call: EngineCall) -> None:
        name, kind, step = str(call.json["user"]).split("/")
        call.head(200, *behaviours.EVENT_STREAM)
        if kind == "call":
            call.chunk(event({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}))
        said = SAID[name]
        pieces = [said[start : start + int(step)] for start in range(0, len(said), int(step))]
        deltas = [
            {"content": one} if kind == "words" else {"tool_calls": [{"index": 0, "function": {"arguments": one}}]}
            for one in pieces
        ]
        call.chunk(b"".join(map(event, deltas)))
        call.chunk(event({}, "stop"))
        call.chunk(b"data: [DONE]\n\n")
        call.chunk(b"")

    async def attack(name: str, kind: str, step: int) -> None:
        answer = await rig.ask((chat(user=f"{name}/{kind}/{step}", stream=True),))
        assert answer.status == 200
        assert answer.body.endswith(b"[DONE]\n\n"), answer.body[-400:]
        assert len(answer.body) > 30_000 or b"content_filter" in answer.body

    async with attacked(tmp_path, behave, GUARDS) as rig:
        for name, kind, step in product(SAID, ("words", "call"), (100_000, 1000)):
            await rig.check(f"{name} as {kind}, {step} characters an event", partial(attack, name, kind, step))


@pytest.mark.timeout(300)
async def test_the_process_beside_a_worker_leaves_with_it(tmp_path: Path) -> None:
    engine = ScriptedEngine(behaviours.answer())
    await engine.open()
    config = CONFIG.format(model=MODEL, urls=msgspec.json.encode([engine.url]).decode())
    with ServeProcess(tmp_path, config=config) as serve:
        await asyncio.to_thread(serve.wait_ready, 60)
        async with connected(urlsplit(serve.url).port or 0) as client:
            await client.send(*ATTACKS[0].request(value("text", 2 * LARGE_BYTES)))
            assert (await client.answer(ANSWER_TIMEOUT_S)).status == 400
        worker = serve.pid_of("worker-0")
        (beside,) = map(int, Path(f"/proc/{worker}/task/{worker}/children").read_text(encoding="ascii").split())
        os.kill(beside, signal.SIGTERM)
        await asyncio.sleep(0.2)
        assert is_alive(beside), "it leaves when its worker does"
        os.kill(worker, signal.SIGKILL)
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            while is_alive(beside):
                await asyncio.sleep(0.02)
    await engine.close()
