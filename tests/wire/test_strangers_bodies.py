"""A key is checked when the head is complete: nobody holds the body of a stranger."""

import asyncio
from hashlib import sha256

import pytest

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat, get

KEY = "a-key"
KEYED = {"api_keys_sha256": (sha256(KEY.encode()).hexdigest(),)}
AUTHORIZED = f"authorization: Bearer {KEY}"


async def test_the_body_of_a_stranger_is_not_held() -> None:
    bodies = {"bodies_bytes_max": 100_000}
    async with gateway_over(behaviours.answer(), gateway=bodies, admission=KEYED) as rig:
        for _ in range(3):
            async with connected(rig.port) as stranger:
                await stranger.send(chat(user="x" * 500, messages=[{"role": "user", "content": "x" * 60_000}])[:50_000])
                assert (await stranger.answer()).status == 401
                assert rig.holds().body_bytes == 0
                async with connected(rig.port) as client:
                    assert (
                        await client.ask(
                            chat(AUTHORIZED, user="x" * 500, messages=[{"role": "user", "content": "x" * 60_000}])
                        )
                    ).status == 200
        assert len(rig.engine.calls) == 3


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (chat(), 401),
        (chat("authorization: Bearer wrong"), 401),
        (chat(AUTHORIZED).replace(b"application/json", b"text/plain"), 415),
        (chat(AUTHORIZED, "content-encoding: gzip"), 415),
        (chat(AUTHORIZED).replace(b"/v1/chat", b"/v1/chatter"), 404),
        (chat(AUTHORIZED).replace(b"POST", b"PUT"), 405),
    ],
    ids=["no key", "a wrong key", "a wrong form", "compressed", "a wrong path", "a wrong method"],
)
async def test_what_the_head_tells_is_answered_before_the_body_comes(request_bytes: bytes, status: int) -> None:
    async with gateway_over(behaviours.answer(), admission=KEYED) as rig:
        head = request_bytes[: request_bytes.index(b"\r\n\r\n") + 4]
        async with connected(rig.port) as client:
            answer = await client.ask(head)
            assert (answer.status, answer.headers["connection"]) == (status, "close")
            assert await client.is_closed()
        async with connected(rig.port) as client:
            answer = await client.ask(head.replace(b"\r\n\r\n", b"\r\nexpect: 100-continue\r\n\r\n"))
            assert answer.status == status, "no word to go on"
        async with connected(rig.port) as client:
            assert (await client.ask(request_bytes)).status == status
            assert (await client.ask(get("/health/live"))).status == 200, "it came whole, and the connection is good"
        assert rig.engine.calls == []


async def test_a_refusal_waits_for_the_answers_before_it() -> None:
    async with gateway_over(behaviours.answer(delay_s=0.1), admission=KEYED) as rig, connected(rig.port) as client:
        await client.send(chat(AUTHORIZED) + chat()[:-1])
        assert [(await client.answer()).status for _ in range(2)] == [200, 401]
        assert await client.is_closed()
        await rig.wait_empty()


async def test_a_page_takes_no_body() -> None:
    async with gateway_over(behaviours.answer(), admission=KEYED) as rig, connected(rig.port) as client:
        await client.send(get("/health/live", "content-length: 1000"), b"x" * 999)
        await asyncio.sleep(0.1)
        assert rig.holds().body_bytes == 0
        assert (await client.ask(b"x")).status == 200
        assert (await client.ask(get("/health/live"))).status == 200
