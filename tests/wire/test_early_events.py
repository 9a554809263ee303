"""What is written down of a stream whose engine speaks long before its first token."""

import asyncio
from pathlib import Path

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n'
LATE_S = 0.3
TICK_MS = 2.0  # timers of a loop are of whole milliseconds, and may be early by one
KEEP_ALIVE = b": keep-alive\n\n"


@pytest.mark.parametrize("events", [(ROLE,), (KEEP_ALIVE,), (KEEP_ALIVE, ROLE, KEEP_ALIVE)])
async def test_the_time_to_the_first_token_ends_with_the_first_token(events: tuple[bytes, ...], tmp_path: Path) -> None:
    behaviour = behaviours.early(*events, first_after_s=LATE_S)
    async with gateway_over(behaviour, records=tmp_path / "records") as rig, connected(rig.port) as client:
        answer = await client.ask(chat(stream=True))
        assert answer.body.startswith(b"".join(events)), "what was held comes, too"
        assert answer.body.count(b" hello") == 3
        (record,) = await rig.wait_records(1)
        assert record.ttft_ms is not None
        assert LATE_S * 1000 - TICK_MS <= record.ttft_ms < record.total_ms
        assert record.itl_ms is not None
        assert record.itl_ms < LATE_S * 1000 / 4, "the wait is not among what passes between tokens"
        await rig.wait_empty()


async def test_an_engine_that_breaks_behind_its_role_is_replaced() -> None:
    """The client has got nothing, so that the request goes elsewhere as if it had not begun."""

    async def breaks(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        call.chunk(ROLE)
        await asyncio.sleep(0.01)
        call.reset()

    broken, good = ScriptedEngine(breaks), ScriptedEngine(behaviours.stream(2))
    async with gateway_over(broken, good) as rig, connected(rig.port) as client:
        asked = 0
        while not broken.calls:
            assert asked < 50, "it was never asked"
            answer = await client.ask(chat(stream=True))
            assert (answer.status, answer.text) == (200, " hello hello")
            asked += 1
        await rig.wait_empty()
