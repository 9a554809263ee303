"""The fault matrix, row by row: no hang, no double answer, the right end, nothing lost where another replica stands."""

from pathlib import Path

import pytest

from tests.faults.matrix import DEADLINE_S, NEVER_READY, ROWS, Row, run_row
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

SLACK_S = 1.5  # a tick of the clock, a slow machine


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_fault_ends_as_it_should(row: Row, is_stream: bool, tmp_path: Path) -> None:
    seen = await run_row(row, is_stream=is_stream, folder=tmp_path)
    assert seen.alone == (row.stream if is_stream else row.whole)
    assert seen.alone_s < DEADLINE_S + SLACK_S
    assert seen.beside == (200, ""), "another replica answers"
    assert seen.is_whole, "every word, once"
    assert seen.beside_s < DEADLINE_S + SLACK_S
    assert seen.attempts_most <= 4
    if row.is_harmless:
        assert (seen.retries, seen.continuations) == (0, 0) or row.name == "replica restart"
    elif row.opens_breaker:
        assert seen.breaker != "closed", "that it fails is known"


@pytest.mark.parametrize("fault", NEVER_READY)
async def test_a_replica_that_never_was_leaves_nobody_waiting(fault: str) -> None:
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:
        url, _ = await NEVER_READY[fault](stack)
        async with (
            gateway_over(pool={"model": "m", "urls": (url,)}, waits_ready=False) as rig,
            connected(rig.port) as client,
        ):
            answer = await client.ask(chat(model="m"))
            assert (answer.status, answer.error["code"]) == (503, "engine_unavailable")
            assert int(answer.headers["retry-after"]) >= 1
