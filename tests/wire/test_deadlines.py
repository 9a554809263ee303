"""A request's own deadline."""

import msgspec
import pytest

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask, connected
from tests.support.requests import chat


@pytest.mark.parametrize("value", ["soon", "-1", "0", "1.5", "", "9" * 12, "1" * 5000])
async def test_a_deadline_that_is_none_is_refused(value: str) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(chat(f"x-heterodyne-deadline-ms: {value}"))
        assert (answer.status, answer.error["param"]) == (400, "x-heterodyne-deadline-ms")


async def test_a_deadline_that_passes_before_the_first_byte_is_a_504() -> None:
    async with gateway_over(behaviours.answer(delay_s=5)) as rig, connected(rig.port) as client:
        answer = await client.ask(chat("x-heterodyne-deadline-ms: 100"))
        assert (answer.status, answer.error["code"], answer.error["type"]) == (
            504,
            "deadline_exceeded",
            "timeout_error",
        )
        await rig.wait_empty()
        await rig.wait_cancelled()
        rig.engine.behaviour = behaviours.answer()
        assert (await client.ask(chat())).status == 200, "the connection is still good"


async def test_a_deadline_that_passes_in_a_stream_is_its_last_event() -> None:
    async with gateway_over(behaviours.stream(500, delay_s=0.02)) as rig, connected(rig.port) as client:
        answer = await client.ask(chat("x-heterodyne-deadline-ms: 200", stream=True))
        assert answer.status == 200
        assert len(answer.events) > 2
        assert b"[DONE]" not in answer.body
        assert msgspec.json.decode(answer.events[-1])["error"]["code"] == "deadline_exceeded"
        await rig.wait_empty()
        await rig.wait_cancelled()


async def test_the_default_deadline_holds_for_requests_that_bring_none() -> None:
    async with gateway_over(behaviours.answer(delay_s=5), gateway={"deadline_default_s": 0.1}) as rig:
        assert (await ask(rig.port, chat())).status == 504
