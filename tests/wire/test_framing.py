"""Where one request ends and the next begins: never in doubt, whatever the bytes."""

import asyncio

import pytest

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat, chat_body, get

BODY = chat_body()
POST = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
OLD_POST = POST.replace(b"HTTP/1.1", b"HTTP/1.0")
CHUNKED = b"2\r\n{}\r\n0\r\n\r\n"

MALFORMED = {
    "no version": b"GET /v1/models\r\n\r\n",
    "another version": b"GET /v1/models HTTP/2.0\r\n\r\n",
    "a space in the path": b"GET /v1/a b HTTP/1.1\r\n\r\n",
    "a header without a colon": b"GET /v1/models HTTP/1.1\r\nhello there\r\n\r\n",
    "a header without a name": b"GET /v1/models HTTP/1.1\r\n: x\r\n\r\n",
    "a space before the colon": b"GET /v1/models HTTP/1.1\r\nhost : x\r\n\r\n",
    "a folded header": b"GET /v1/models HTTP/1.1\r\nhost: a\r\n b\r\n\r\n",
    "bare line feeds": b"GET /v1/models HTTP/1.1\nhost: a\n\n",
    "a NUL in a header": b"GET /v1/models HTTP/1.1\r\nhost: a\x00b\r\n\r\n",
    "two lengths": POST + b"content-length: 2\r\ncontent-length: 2\r\n\r\n{}",
    "two different lengths": POST + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    "a negative length": POST + b"content-length: -2\r\n\r\n{}",
    "a length with a sign": POST + b"content-length: +2\r\n\r\n{}",
    "a length that overflows": POST + b"content-length: 99999999999999999999999\r\n\r\n{}",
    "a length of many zeros": POST + b"content-length: " + b"0" * 5000 + b"2\r\n\r\n{}",
    "length and chunks": POST + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n" + CHUNKED,
    "chunks and length": POST + b"transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n" + CHUNKED,
    "another transfer coding": POST + b"transfer-encoding: gzip\r\n\r\n" + CHUNKED,
    "chunks in chunks": POST + b"transfer-encoding: chunked, chunked\r\n\r\n" + CHUNKED,
    "a coding before chunks": POST + b"transfer-encoding: gzip, chunked\r\n\r\n" + CHUNKED,
    "a coding in a header of its own": POST
    + b"transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    + CHUNKED,
    "nothing before chunks": POST + b"transfer-encoding: ,chunked\r\n\r\n" + CHUNKED,
    "a tab before chunked": POST + b"transfer-encoding:\tchunked\r\n\r\n" + CHUNKED,
    "a space and a tab before chunked": POST + b"Transfer-Encoding: \tchunked\r\n\r\n" + CHUNKED,
    "a vertical tab before chunked": POST + b"transfer-encoding: \x0bchunked\r\n\r\n" + CHUNKED,
    "a tab after chunked": POST + b"transfer-encoding: chunked\t\r\n\r\n" + CHUNKED,
    "chunks from an old client": OLD_POST + b"transfer-encoding: chunked\r\n\r\n" + CHUNKED,
    "no host": b"GET /v1/models HTTP/1.1\r\n\r\n",
    "two hosts": get("/v1/models", "host: localhost"),
    "two hosts in one": b"GET /v1/models HTTP/1.1\r\nhost: localhost, evil\r\n\r\n",
    "a host with a path": b"GET /v1/models HTTP/1.1\r\nhost: localhost/evil\r\n\r\n",
    "two keys": get("/v1/models", "authorization: Bearer a", "authorization: Bearer b"),
    "two media types": POST + b"content-type: text/plain\r\ncontent-length: 2\r\n\r\n{}",
    "two of our own headers": get("/v1/models", "x-heterodyne-pool: a", "X-Heterodyne-Pool: b"),
    "a chunk size that is no number": POST + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk longer than its size": POST + b"transfer-encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n",
    "HTTP/2 by prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a tunnel": get("gateway:8080", method="CONNECT"),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED.keys())
async def test_an_ambiguous_request_is_refused_once_and_the_connection_closed(data: bytes) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(data + get("/health/live"))
        assert (answer.status, answer.error["code"]) == (400, "malformed_http")
        assert answer.headers["connection"] == "close"
        assert await client.is_closed(), "nothing after it is answered"
        assert rig.engine.calls == []


@pytest.mark.parametrize("cut", [30, 95, 100, 110])
async def test_a_tab_before_the_coding_is_seen_however_the_head_is_cut(cut: int) -> None:
    data = POST + b"transfer-encoding: \tchunked\r\n\r\n" + CHUNKED
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        await client.send(data[:cut], data[cut:], pause_s=0.02)
        assert (await client.answer()).error["code"] == "malformed_http"


async def test_an_old_client_may_leave_out_the_host() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(b"GET /v1/models HTTP/1.0\r\n\r\n")).status == 200


@pytest.mark.parametrize("protocol", ["h2c", "websocket", "TLS/1.0"])
async def test_the_offer_of_another_protocol_is_ignored(protocol: str) -> None:
    """Also with a body, in either framing, and with more requests behind it."""
    offer = ("connection: Upgrade, HTTP2-Settings", f"upgrade: {protocol}", "http2-settings: AAMAAABkAAQAoAAAAAIAAAAA")
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)
    head = POST + "".join(f"{line}\r\n" for line in offer).encode()
    requests = [
        get("/v1/models", *offer),
        chat(*offer),
        head + b"transfer-encoding: chunked\r\n\r\n" + chunks,
        get("/v1/models"),
    ]
    async with gateway_over(behaviours.answer()) as rig:
        async with connected(rig.port) as client:
            await client.send(b"".join(requests))
            assert [(await client.answer()).status for _ in requests] == [200] * 4
        async with connected(rig.port) as client:
            for request in requests:
                assert (await client.ask(request[:-20], request[-20:])).status == 200
        assert [call.body for call in rig.engine.calls] == [BODY] * 4
        await rig.wait_empty()


async def test_requests_before_a_broken_one_still_get_their_answers() -> None:
    async with gateway_over(behaviours.answer(delay_s=0.05)) as rig, connected(rig.port) as client:
        await client.send(chat() + get("/health/live") + b"nonsense\r\n\r\n" + get("/health/live"))
        assert [(await client.answer()).status for _ in range(3)] == [200, 200, 405]
        assert await client.is_closed()


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with gateway_over(behaviours.stream(2, delay_s=0.01)) as rig, connected(rig.port) as client:
        await client.send(chat(stream=True) + get("/v1/models") + chat() + get("/nowhere") + chat(stream=True))
        answers = [await client.answer() for _ in range(5)]
        assert [answer.status for answer in answers] == [200, 200, 200, 404, 200]
        assert answers[0].text == answers[4].text == " hello hello"
        assert answers[1].json["data"][0]["id"] == "scripted"
        assert answers[2].json["object"] == "chat.completion"


async def test_hundreds_of_pipelined_requests_are_answered_however_they_wait() -> None:
    async with gateway_over(behaviours.answer(delay_s=0.05)) as rig, connected(rig.port) as client:
        await client.send(chat() + get("/health/live") * 500)
        assert {(await client.answer()).status for _ in range(501)} == {200}


async def test_answers_nobody_reads_stop_the_reading_of_requests() -> None:
    asked = 3000
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        client.stop_reading()
        await client.send(get("/openapi.json") * asked)
        async with asyncio.timeout(30):
            while not rig.holds().unsent_bytes:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        assert 0 < rig.holds().unsent_bytes < 1 << 20
        client.go_on_reading()
        assert {(await client.answer()).status for _ in range(asked)} == {200}


async def test_nothing_is_served_after_a_request_that_closes() -> None:
    async with gateway_over(behaviours.answer()) as rig:
        for last in (get("/health/live", "connection: close"), chat("connection: close")):
            async with connected(rig.port) as client:
                answer = await client.ask(last + chat() + get("/health/live"))
                assert answer.status == 200
                assert answer.headers["connection"] == "close"
                assert await client.is_closed()
        assert len(rig.engine.calls) == 1
        await rig.wait_empty()


async def test_a_client_that_expects_a_continue_gets_one() -> None:
    head = POST + b"expect: 100-continue\r\ncontent-length: %d\r\n\r\n" % len(BODY)
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        await client.send(head)
        assert await client.head() == (100, {})
        assert (await client.ask(BODY)).status == 200


async def test_no_continue_is_given_to_a_body_that_is_too_large() -> None:
    head = POST + b"expect: 100-continue\r\ncontent-length: 99999999999\r\n\r\n"
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(head)).status == 413


async def test_an_old_client_gets_answers_that_end_with_the_connection() -> None:
    body = chat_body(stream=True)
    head = POST.replace(b"HTTP/1.1", b"HTTP/1.0") + b"content-length: %d\r\n\r\n" % len(body)
    async with gateway_over(behaviours.stream(3)) as rig, connected(rig.port) as client:
        answer = await client.ask(head + body)
        assert "transfer-encoding" not in answer.headers
        assert answer.headers["connection"] == "close"
        assert answer.text == " hello hello hello"
        assert answer.events[-1] == b"[DONE]"
        async with connected(rig.port) as other:
            assert (await other.ask(get("/v1/models").replace(b"HTTP/1.1", b"HTTP/1.0"))).status == 200
            assert await other.is_closed()
        await rig.wait_empty()


async def test_an_error_in_the_stream_of_an_old_client_is_an_event_too() -> None:
    body = chat_body(stream=True)
    head = POST.replace(b"HTTP/1.1", b"HTTP/1.0") + b"content-length: %d\r\n\r\n" % len(body)
    async with gateway_over(behaviours.stream_then(then="close")) as rig, connected(rig.port) as client:
        answer = await client.ask(head + body)
        assert b'"code":"engine_broke"' in answer.events[-1]


async def test_a_request_may_come_byte_by_byte() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(*[bytes([byte]) for byte in chat()])).status == 200
