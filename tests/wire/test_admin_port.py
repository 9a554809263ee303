"""The admin port keeps the limits of the data port, and stays open for whoever has a key."""

import asyncio
from contextlib import AsyncExitStack
from typing import ClassVar

import pytest
from starlette.requests import Request

from heterodyne.console.access.operators import Person
from heterodyne.console.guard import Guard
from tests.support.admin_ports import AUTHORIZED, AdminPort, admin_port
from tests.support.raw_client import ask, connected
from tests.support.requests import get, post

FLEET = get("/admin/fleet", AUTHORIZED)
QUICK = {"head_timeout_s": 0.2, "body_timeout_s": 0.2, "idle_timeout_s": 0.3}
HALF_HEAD = b"GET /health HTTP/1.1\r\nhost: loc"
HALF_BODY = post("/session", b"{}")[:-1]


@pytest.mark.parametrize(
    "said", [b"", HALF_HEAD, HALF_BODY, get("/health")], ids=["silent", "half a head", "half a body", "idle"]
)
async def test_connections_that_nobody_waits_on_do_not_lock_an_operator_out(said: bytes) -> None:
    async with admin_port() as admin, AsyncExitStack() as stack:
        for _ in range(520):
            client = await stack.enter_async_context(connected(admin.port))
            await client.send(said)
        assert (await ask(admin.port, FLEET)).status == 200
        async with connected(admin.port) as operator:
            for _ in range(20):
                assert (await operator.ask(FLEET)).status == 200
        assert len(admin.ledger.connections) <= 512


@pytest.mark.parametrize("said", [b"", HALF_HEAD, HALF_BODY, get("/health")])
async def test_a_connection_that_says_nothing_more_is_closed_in_time(said: bytes) -> None:
    async with admin_port(**QUICK) as admin, connected(admin.port) as client:
        await client.send(said)
        if said:
            assert (await client.answer()).status == (200 if said == get("/health") else 408)
        assert await client.is_closed(timeout_s=30)
        await _closed(admin)


async def test_a_head_is_bounded() -> None:
    async with admin_port() as admin:
        for head in (
            get("/health", "x: " + "y" * 40_000),
            get("/health", *(f"x-{number}: y" for number in range(101))),
            get("/health", *["x: y"] * 101),
            get("/" + "x" * 40_000),
        ):
            answer = await ask(admin.port, head)
            assert (answer.status, answer.json["error"]["code"]) == (431, "head_too_large")
            assert answer.headers["x-content-type-options"] == "nosniff"
        await _closed(admin)


async def test_a_stranger_may_send_as_much_as_signing_in_takes() -> None:
    body = b'{"model":"%b"}' % (b"x" * 100_000)
    chunked = post("/admin/playground", b"").replace(b"content-length: 0", b"transfer-encoding: chunked")
    async with admin_port() as admin:
        async with connected(admin.port) as client:
            head = post("/admin/playground", body)[: -len(body)]
            assert (await client.ask(head)).status == 401, "before the body comes"
            assert admin.ledger.body_bytes == 0
        async with connected(admin.port) as client:
            await client.send(chunked, b"%x\r\n%b\r\n" % (len(body), body))
            assert (await client.answer()).status == 413
        answer = await ask(admin.port, post("/admin/playground", body, AUTHORIZED))
        assert answer.json["error"]["code"] == "invalid_value", "of an operator it is read"
        answer = await ask(admin.port, post("/admin/playground", b"x" * (4 << 20) + b"x", AUTHORIZED))
        assert answer.status == 413
        await admin.wait_empty()


async def test_who_sends_much_is_asked_for_by_the_address_they_come_from() -> None:
    class Noting(Guard):
        """Remembers where it was asked from."""

        hosts: ClassVar[list[str | None]] = []

        def identify(self, request: Request) -> Person:
            self.hosts.append(None if request.client is None else request.client.host)
            return super().identify(request)

    async with admin_port(guard=Noting) as admin:
        assert (await ask(admin.port, post("/admin/playground", b"x" * 20_000))).status == 401
    assert Noting.hosts == ["127.0.0.1"]


async def test_the_body_of_an_operator_arrives_in_either_framing() -> None:
    body = b'{"model":"m","messages":[]}'
    chunked = post("/admin/playground", b"", AUTHORIZED).replace(b"content-length: 0", b"transfer-encoding: chunked")
    async with admin_port() as admin, connected(admin.port) as client:
        whole = await client.ask(post("/admin/playground", body, AUTHORIZED))
        pieces = await client.ask(chunked, *[b"1\r\n%c\r\n" % byte for byte in body], b"0\r\nhost: evil\r\n\r\n")
        assert (whole.status, whole.body) == (pieces.status, pieces.body)


async def test_a_live_feed_is_streamed_until_its_reader_leaves() -> None:
    async with admin_port() as admin:
        async with connected(admin.port) as reader:
            await reader.send(get("/admin/live", AUTHORIZED))
            status, headers = await reader.head()
            assert (status, headers["transfer-encoding"]) == (200, "chunked")
            assert headers["content-type"].startswith("text/event-stream")
            async for chunk in reader.chunks():
                assert chunk.endswith(b"\n\n")
                break
            assert any(one.is_busy for one in admin.ledger.connections)
            reader.leave()
        await _closed(admin)
        async with connected(admin.port) as old:
            await old.send(get("/admin/live", AUTHORIZED).replace(b"HTTP/1.1", b"HTTP/1.0"))
            status, headers = await old.head()
            assert (status, headers["connection"], "transfer-encoding" in headers) == (200, "close", False)
            assert await old.reader.readuntil(b"\n\n")


async def test_an_answer_to_head_has_no_body() -> None:
    async with admin_port() as admin, connected(admin.port) as client:
        await client.send(get("/health", method="HEAD") + get("/health"))
        status, headers = await client.head()
        assert (status, int(headers["content-length"]) > 0) == (200, True)
        assert (await client.answer()).json == {"status": "ok"}


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with admin_port() as admin, connected(admin.port) as client:
        await client.send((get("/health") + FLEET + get("/nowhere")) * 40)
        answers = [(await client.answer()).status for _ in range(120)]
        assert answers == [200, 200, 404] * 40


async def test_a_client_that_takes_none_of_its_answers_is_cut_off() -> None:
    async with admin_port(write_timeout_s=0.3) as admin, connected(admin.port) as client:
        client.stop_reading()
        await client.send(get("/admin/openapi.json", AUTHORIZED) * 2000)
        await _closed(admin)


async def _closed(admin: AdminPort) -> None:
    async with asyncio.timeout(30):
        while admin.ledger.connections:
            await asyncio.sleep(0.01)
