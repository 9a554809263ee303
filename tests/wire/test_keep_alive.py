"""Connections that serve more than one request."""

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat, get


async def test_a_connection_serves_request_after_request() -> None:
    async with gateway_over(behaviours.stream(3)) as rig, connected(rig.port) as client:
        for _ in range(3):
            assert (await client.ask(chat())).json["choices"][0]["message"]["content"] == " hello hello hello"
            assert (await client.ask(chat(stream=True))).text == " hello hello hello"
            assert (await client.ask(get("/health/live"))).status == 200
        await rig.wait_empty()
        assert rig.holds().connections == 1
