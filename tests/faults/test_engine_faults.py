"""Every way an engine can fail, asked for a stream and for a whole answer.

Whatever happens, the client gets one honest answer, nothing stays behind, and the next request is served.
"""

import asyncio
from pathlib import Path

import msgspec
import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, connected
from tests.support.requests import chat

QUICK = {"first_byte_timeout_s": 0.5, "stall_timeout_s": 0.5}  # a busy machine holds a good answer up, too
JSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
DEEP = b'{"x":' + b"[" * 50_000


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


async def hang(call: EngineCall) -> None:
    await asyncio.sleep(3600)


# Faults before the first byte of a stream, or anywhere in a whole answer: behaviour, status, code.
BEFORE: dict[str, tuple[Behaviour, int, str]] = {
    "closes before the head": (behaviours.raw(b""), 502, "engine_broke"),
    "resets before the head": (behaviours.raw(b"", then="reset"), 502, "engine_broke"),
    "closes in the head": (behaviours.raw(b"HTTP/1.1 200 OK\r\nconten"), 502, "engine_broke"),
    "says nothing": (hang, 504, "engine_stalled"),
    "stops in the head": (behaviours.raw(b"HTTP/1.1 20", then="hang"), 504, "engine_stalled"),
    "speaks another protocol": (behaviours.raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), 502, "engine_garbage"),
    "sends a head without an end": (
        behaviours.raw(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000),
        502,
        "engine_garbage",
    ),
    "upgrades": (
        behaviours.raw(b"HTTP/1.1 101 Sw\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
        502,
        "engine_garbage",
    ),
    "sends less than its length": (behaviours.raw(JSON_HEAD + b"content-length: 99\r\n\r\n{}"), 502, "engine_broke"),
    "sends more than its length": (behaviours.raw(JSON_HEAD + b"content-length: 2\r\n\r\n{}{}"), 502, "engine_garbage"),
    "sends more than nothing": (behaviours.raw(JSON_HEAD + b"content-length: 0\r\n\r\n{}"), 502, "engine_garbage"),
    "stops in the body": (
        behaviours.raw(JSON_HEAD + b"content-length: 9\r\n\r\n{", then="hang"),
        504,
        "engine_stalled",
    ),
    "answers with nothing": (behaviours.raw(JSON_HEAD + b"content-length: 0\r\n\r\n"), 502, "engine_garbage"),
    "answers with a page": (behaviours.raw(JSON_HEAD + b"content-length: 6\r\n\r\n<html>"), 502, "engine_garbage"),
    "answers with a list": (behaviours.raw(JSON_HEAD + b"content-length: 2\r\n\r\n[]"), 502, "engine_garbage"),
    "answers with a cut object": (behaviours.raw(JSON_HEAD + b"\r\n" + b'{"choices": ['), 502, "engine_garbage"),
    "answers too deep": (behaviours.raw(JSON_HEAD + b"\r\n" + DEEP), 502, "engine_garbage"),
    "fails too deep": (behaviours.raw(b"HTTP/1.1 400 No\r\n\r\n" + DEEP), 400, "engine_refused"),
    "fails in no known letters": (behaviours.raw(b'HTTP/1.1 400 No\r\n\r\n{"message":"\xff"}'), 400, "engine_refused"),
    "has a broken chunk": (
        behaviours.raw(JSON_HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
        502,
        "engine_garbage",
    ),
    "answers too much": (
        behaviours.raw(JSON_HEAD + b"content-length: 90000\r\n\r\n" + b" " * 90_000),
        502,
        "engine_garbage",
    ),
}

# Faults between a stream's head and its first event: behaviour, status, code. The client has been promised nothing.
BEFORE_EVENTS: dict[str, tuple[Behaviour, int, str]] = {
    "falls silent": (behaviours.raw(STREAM_HEAD, then="hang"), 504, "engine_stalled"),
    "closes": (behaviours.raw(STREAM_HEAD), 502, "engine_broke"),
    "ends": (behaviours.raw(STREAM_HEAD + b"0\r\n\r\n", then="hang"), 502, "engine_broke"),
    "sends no events": (behaviours.raw(STREAM_HEAD + chunk(b"<html>\n\n"), then="hang"), 502, "engine_garbage"),
    "says an error": (behaviours.raw(STREAM_HEAD + chunk(b'data: {"error":{}}\n\n')), 502, "engine_broke"),
}

# Faults after a stream has begun: behaviour, code of the last event.
WITHIN: dict[str, tuple[Behaviour, str]] = {
    "closes": (behaviours.stream_then(then="close"), "engine_broke"),
    "resets": (behaviours.stream_then(then="reset"), "engine_broke"),
    "falls silent": (behaviours.stream_then(then="hang"), "engine_stalled"),
    "closes in an event": (behaviours.stream_then(b'8\r\ndata: {"'), "engine_broke"),
    "ends without [DONE]": (behaviours.stream_then(b"0\r\n\r\n", then="hang"), "engine_broke"),
    "ends in an event": (behaviours.stream_then(chunk(b'data: {"x"') + b"0\r\n\r\n", then="hang"), "engine_broke"),
    "has a chunk without a size": (behaviours.stream_then(b"zz\r\nxx\r\n", then="hang"), "engine_garbage"),
    "has a chunk with a sign": (behaviours.stream_then(b"+2\r\nxx\r\n", then="hang"), "engine_garbage"),
    "has a chunk of another size": (behaviours.stream_then(b"2\r\nxxxx\r\n", then="hang"), "engine_garbage"),
    "has bytes behind its end": (behaviours.stream_then(b"0\r\n\r\nHTTP/1.1", then="hang"), "engine_garbage"),
    "sends events of no JSON": (behaviours.stream_then(chunk(b"data: hello\n\n"), then="hang"), "engine_garbage"),
    "sends events too deep": (behaviours.stream_then(chunk(b"data: " + DEEP + b"\n\n"), then="hang"), "engine_garbage"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("fault", BEFORE)
async def test_a_fault_before_the_first_byte_is_an_error_answer(fault: str, stream: bool, tmp_path: Path) -> None:
    behaviour, status, code = BEFORE[fault]
    limits = {**QUICK, "answer_bytes_max": 60_000}
    async with gateway_over(behaviour, gateway=limits, records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            answer = await client.ask(chat(stream=stream))
            assert (answer.status, answer.error["code"]) == (status, code)
            rig.engine.behaviour = behaviours.stream(2)
            assert (await client.ask(chat(stream=stream))).status == 200, "client and gateway are still in step"
        await assert_all_is_well(rig, [(status, code), (200, "")])


@pytest.mark.parametrize("fault", BEFORE_EVENTS)
async def test_a_fault_before_the_first_event_is_an_error_answer(fault: str, tmp_path: Path) -> None:
    behaviour, status, code = BEFORE_EVENTS[fault]
    async with gateway_over(behaviour, gateway=QUICK, records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            answer = await client.ask(chat(stream=True))
            assert (answer.status, answer.error["code"]) == (status, code)
            rig.engine.behaviour = behaviours.stream(2)
            assert (await client.ask(chat(stream=True))).text == " hello hello"
        await assert_all_is_well(rig, [(status, code), (200, "")])


@pytest.mark.parametrize("fault", WITHIN)
async def test_a_fault_within_a_stream_is_its_last_event(fault: str, tmp_path: Path) -> None:
    behaviour, code = WITHIN[fault]
    async with gateway_over(behaviour, gateway=QUICK, records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            answer = await client.ask(chat(stream=True))
            assert answer.status == 200
            assert_ends_as(answer, code)
            rig.engine.behaviour = behaviours.stream(2)
            assert (await client.ask(chat(stream=True))).text == " hello hello"
        await assert_all_is_well(rig, [(504 if code == "engine_stalled" else 502, code), (200, "")])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("engine_status", "status", "code"),
    [
        (400, 400, "engine_refused"),
        (401, 503, "engine_unavailable"),
        (403, 503, "engine_unavailable"),
        (404, 404, "engine_refused"),
        (422, 422, "engine_refused"),
        (429, 429, "engine_refused"),
        (500, 502, "engine_refused"),
        (503, 503, "engine_refused"),
        (599, 502, "engine_refused"),
    ],
)
async def test_an_engines_error_keeps_its_meaning(engine_status: int, status: int, code: str, stream: bool) -> None:
    async with gateway_over(behaviours.refuse(engine_status, "its own words")) as rig, connected(rig.port) as client:
        answer = await client.ask(chat(stream=stream))
        assert (answer.status, answer.error["code"]) == (status, code)
        is_callers = engine_status in (400, 404, 422, 429)
        assert (answer.error["message"] == "its own words") is is_callers, "an engine's troubles are not the caller's"
        assert "www-authenticate" not in answer.headers
        await rig.wait_empty()


async def test_an_error_event_of_the_engine_is_passed_on_and_written_down(tmp_path: Path) -> None:
    error = {"error": {"message": "out of memory", "type": "server_error", "code": 500}}
    ending = chunk(b"data: " + msgspec.json.encode(error) + b"\n\n") + b"0\r\n\r\n"
    async with gateway_over(behaviours.stream_then(ending, then="hang"), records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            answer = await client.ask(chat(stream=True))
        assert msgspec.json.decode(answer.events[-1]) == error
        await assert_all_is_well(rig, [(200, "engine_error_event")])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_an_engine_that_only_speaks_until_it_closes_is_understood(stream: bool) -> None:
    whole = JSON_HEAD + b"\r\n" + msgspec.json.encode(behaviours.chat_answer("x"))
    events = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + EVENT + b"data: [DONE]\n\n"
    async with gateway_over(behaviours.raw(events if stream else whole)) as rig, connected(rig.port) as client:
        for _ in range(2):
            answer = await client.ask(chat(stream=stream))
            assert answer.status == 200
            assert (answer.text if stream else answer.json["choices"][0]["message"]["content"]) == "x"
        await rig.wait_empty()


async def test_an_engine_may_say_continue_first() -> None:
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + STREAM_HEAD
    data += chunk(EVENT) + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    async with gateway_over(behaviours.raw(data)) as rig, connected(rig.port) as client:
        assert (await client.ask(chat(stream=True))).text == "x"


async def test_a_llamacpp_stream_that_breaks_is_no_whole_answer() -> None:
    # It hangs afterwards: one that closes a connection it gave back may close it under the next request.
    broken = behaviours.stream_then(b"0\r\n\r\n", then="hang")
    async with gateway_over(broken, pool={"engine": "llamacpp"}) as rig:
        async with connected(rig.port) as client:
            assert (await client.ask(chat())).error["code"] == "engine_broke"
            garbage = chunk(b"data: {}}\n\ndata: [DONE]\n\n") + b"0\r\n\r\n"
            rig.engine.behaviour = behaviours.stream_then(garbage, then="hang")
            assert (await client.ask(chat())).error["code"] == "engine_garbage"
            rig.engine.behaviour = behaviours.stream(2)
            assert (await client.ask(chat())).json["choices"][0]["message"]["content"] == " hello hello"
        await rig.wait_empty()


def assert_ends_as(answer: Answer, code: str) -> None:
    *before, last = answer.events
    error = msgspec.json.decode(last)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == code
    assert b"[DONE]" not in answer.body
    assert all(b'"error"' not in event or code == "engine_broke" for event in before)


async def assert_all_is_well(rig: Rig, ends: list[tuple[int, str]]) -> None:
    """Nothing is held, and every request has ended exactly once."""
    await rig.wait_empty()
    records = await rig.wait_records(len(ends))
    assert [(record.status, record.reason) for record in records] == ends
