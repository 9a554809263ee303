"""Too large, too slow, too many: the answer is a refusal, and the client gets to see it."""

import asyncio

import pytest

from heterodyne.testing import behaviours
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import RawClient, ask, connected
from tests.support.requests import chat, chat_body, get, post

CHUNKED_HEAD = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
)
BODY_MAX = {"body_bytes_max": 1 << 20}
QUICK = {"head_timeout_s": 0.15, "body_timeout_s": 0.15, "idle_timeout_s": 0.3}


async def test_a_body_declared_too_large_is_refused_before_it_is_read() -> None:
    async with gateway_over(behaviours.answer(), gateway=BODY_MAX) as rig, connected(rig.port) as client:
        answer = await client.ask(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999\r\n\r\n"
        )
        assert (answer.status, answer.error["code"]) == (413, "body_too_large")
        assert answer.headers["connection"] == "close"
        assert await client.is_closed()


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_the_refusal_of_a_large_body_reaches_a_client_that_keeps_sending(is_chunked: bool) -> None:
    head = (
        CHUNKED_HEAD
        if is_chunked
        else b"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 16777216\r\n\r\n"
    )
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n" if is_chunked else b" " * 65536
    async with gateway_over(behaviours.answer(), gateway=BODY_MAX) as rig, connected(rig.port) as client:
        await client.send(head, *[piece] * 256)
        answer = await client.answer()
        assert (answer.status, answer.error["code"]) == (413, "body_too_large")
        assert await client.is_closed()
        await rig.wait_empty()


async def test_a_large_body_within_the_limit_arrives_whole_in_either_framing() -> None:
    body = chat_body(metadata={"padding": "x" * 900_000})
    chunks = [b"%x\r\n%b\r\n" % (len(body[i : i + 7000]), body[i : i + 7000]) for i in range(0, len(body), 7000)]
    async with gateway_over(behaviours.answer(), gateway=BODY_MAX) as rig, connected(rig.port) as client:
        assert (await client.ask(post("/v1/chat/completions", body))).status == 200
        assert (await client.ask(CHUNKED_HEAD, *chunks, b"0\r\n\r\n")).status == 200
        assert [call.body == body for call in rig.engine.calls] == [True, True]


async def test_bodies_together_are_bounded() -> None:
    async with gateway_over(behaviours.answer(delay_s=0.3), gateway={"bodies_bytes_max": 100_000}) as rig:
        async with connected(rig.port) as first, connected(rig.port) as second:
            await first.send(chat(metadata={"padding": "x" * 60_000}))
            answer = await second.ask(chat(metadata={"padding": "x" * 60_000}))
            assert (answer.status, answer.error["code"]) == (503, "overloaded")
            assert answer.headers["retry-after"] == "1"
            assert (await first.answer()).status == 200
        await rig.wait_empty()
        assert (await ask(rig.port, chat(metadata={"padding": "x" * 60_000}))).status == 200


async def test_bodies_of_connections_that_close_are_given_back() -> None:
    async with gateway_over(behaviours.answer(), gateway={"bodies_bytes_max": 100_000}) as rig:
        for _ in range(3):
            assert (await ask(rig.port, chat("connection: close", metadata={"padding": "x" * 60_000}))).status == 200
        await rig.wait_empty()


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nx-large: " + b"x" * 40_000 + b"\r\n\r\n"],
        [b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\n\r\n"],
        [b"GET /v1/models HTTP/1.1\r\n" + b"".join(b"x-%d: y\r\n" % i for i in range(101)) + b"\r\n"],
        [b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nx-endless: ", *[b"x" * 1000] * 40],
        [b"GET /v1/models HTTP/1.1\r\n", *[b"x-same: " + b"y" * 1000 + b"\r\n"] * 40],
        [
            get("/health/live")
            + b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nx-large: "
            + b"x" * 40_000
            + b"\r\n\r\n"
        ],
    ],
    ids=["one header", "path", "many headers", "endless line", "many equal headers", "behind another request"],
)
async def test_a_head_too_large_is_refused(pieces: list[bytes]) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        await client.send(*pieces)
        answer = await client.answer()
        if b"/health/live" in pieces[0]:
            assert answer.status == 200
            answer = await client.answer()
        assert (answer.status, answer.error["code"]) == (431, "head_too_large")
        assert await client.is_closed()


async def test_a_large_body_before_it_is_not_counted_as_part_of_a_head() -> None:
    first, second = chat(metadata={"padding": "x" * 60_000}), get("/health/live")
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        await client.send(first + second[:20], second[20:], pause_s=0.05)
        assert [(await client.answer()).status for _ in range(2)] == [200, 200]


async def test_a_head_that_does_not_come_to_an_end_is_refused() -> None:
    async with gateway_over(behaviours.answer(), gateway=QUICK) as rig, connected(rig.port) as client:
        await client.send(*[bytes([byte]) for byte in b"GET /v1/models HTT"], pause_s=0.02)
        answer = await client.answer()
        assert (answer.status, answer.error["code"]) == (408, "request_timeout")
        assert "head" in answer.error["message"]
        assert await client.is_closed()


async def test_a_body_that_does_not_come_to_an_end_is_refused() -> None:
    async with gateway_over(behaviours.answer(), gateway=QUICK) as rig, connected(rig.port) as client:
        await client.send(chat()[:-1])
        answer = await client.answer()
        assert (answer.status, answer.error["code"]) == (408, "request_timeout")
        assert "body" in answer.error["message"]
        await rig.wait_empty()


async def test_a_connection_without_a_request_is_closed_in_time() -> None:
    async with gateway_over(behaviours.answer(), gateway=QUICK) as rig, connected(rig.port) as client:
        assert (await client.ask(chat())).status == 200
        assert await client.is_closed(timeout_s=30)


async def test_a_full_house_refuses_and_says_when_to_come_back() -> None:
    admission = {"in_flight_max": 1, "retry_after_s": 7}
    rig_over = gateway_over(behaviours.answer(delay_s=0.2), admission=admission)
    async with rig_over as rig, connected(rig.port) as first, connected(rig.port) as second:
        await first.send(chat())
        await _in_flight(rig, 1)
        answer = await second.ask(chat())
        assert (answer.status, answer.error["code"]) == (503, "overloaded")
        assert answer.headers["retry-after"] == "7"
        assert (await second.ask(get("/health/live"))).status == 200, "pages are not work"
        assert (await first.answer()).status == 200
        assert (await second.ask(chat())).status == 200


async def test_a_pipelined_request_finds_the_place_its_predecessor_left() -> None:
    async with gateway_over(behaviours.stream(2), admission={"in_flight_max": 1}) as rig, connected(rig.port) as client:
        await client.send(chat() + chat(stream=True) + chat(model="x") + chat())
        assert [(await client.answer()).status for _ in range(4)] == [200, 200, 404, 200]


async def test_one_connection_too_many_is_told_so() -> None:
    """While every other one is being answered."""
    running = gateway_over(behaviours.answer(delay_s=0.5), gateway={"connections_max": 2})
    async with running as rig, connected(rig.port) as first, connected(rig.port) as second:
        await first.send(chat())
        await second.send(chat())
        await _in_flight(rig, 2)
        async with connected(rig.port) as third:
            answer = await third.answer()
            assert (answer.status, answer.error["code"]) == (503, "overloaded")
            assert await third.is_closed()
        assert (await first.answer()).status == (await second.answer()).status == 200


async def test_a_connection_on_which_nothing_is_asked_gives_way_to_a_new_one() -> None:
    running = gateway_over(behaviours.answer(delay_s=0.3), gateway={"connections_max": 2})
    async with running as rig, connected(rig.port) as busy, connected(rig.port) as silent:
        await busy.send(chat())
        await _in_flight(rig, 1)
        for _ in range(3):
            async with connected(rig.port) as third:
                assert (await third.ask(get("/health/live"))).status == 200
        assert await silent.is_closed()
        assert (await busy.answer()).status == 200


async def test_a_body_whose_sender_is_known_does_not_give_way() -> None:
    running = gateway_over(behaviours.answer(), gateway={"connections_max": 1})
    async with running as rig, connected(rig.port) as first:
        await first.send(chat()[:-1])
        await _held(rig)
        async with connected(rig.port) as second:
            assert (await second.answer()).status == 503
        assert (await first.ask(chat()[-1:])).status == 200


async def test_a_connection_that_never_asks_anything_has_the_time_of_a_head() -> None:
    limits = {"head_timeout_s": 0.15, "idle_timeout_s": 60.0}
    async with gateway_over(behaviours.answer(), gateway=limits) as rig, connected(rig.port) as client:
        assert await client.is_closed(timeout_s=30)


async def test_a_client_that_takes_none_of_its_answer_is_cut_off() -> None:
    async with gateway_over(behaviours.answer("x" * 30_000_000), gateway={"write_timeout_s": 0.2}) as rig:
        async with connected(rig.port) as client:
            await client.send(chat())
            await _connections(rig, client, 0)
        await rig.wait_empty()


async def test_a_client_that_takes_its_answer_slowly_gets_all_of_it() -> None:
    """Also when the connection is to be closed after it, and when it takes longer than any one limit."""
    limits = {"write_timeout_s": 1.0, "idle_timeout_s": 1.0}
    async with gateway_over(behaviours.answer("x" * 20_000_000), gateway=limits) as rig:
        for header in ("connection: close", "x-nothing: here"):
            async with connected(rig.port) as client:
                await client.send(chat(header))
                _, headers = await client.head()
                left = int(headers["content-length"])
                while left:
                    left -= len(await client.reader.readexactly(min(left, 2_000_000)))
                    await asyncio.sleep(0.15)


async def _in_flight(rig: Rig, count: int) -> None:
    async with asyncio.timeout(30):
        while rig.holds().in_flight != count:
            await asyncio.sleep(0.005)


async def _held(rig: Rig) -> None:
    async with asyncio.timeout(30):
        while not rig.holds().body_bytes:
            await asyncio.sleep(0.005)


async def _connections(rig: Rig, client: RawClient, count: int) -> None:
    """The client stays open and reads nothing meanwhile."""
    async with asyncio.timeout(30):
        while rig.holds().connections != count:
            await asyncio.sleep(0.02)
