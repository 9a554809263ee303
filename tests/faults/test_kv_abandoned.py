"""Prompts that were handed over and that nobody reads: another replica lets them go, or the router leaves them room."""

import pytest
from msgspec import structs

from heterodyne.emulator.faults import Faults, PoorHandOver
from heterodyne.routing.health.outcome import Outcome
from heterodyne.telemetry import metrics
from tests.faults.kv_rows import ask
from tests.support.emulators import order
from tests.support.kv_plans import kv_gateway
from tests.support.kv_splits import MODEL, SLOW, split

UNREAD = Faults(hand_over=PoorHandOver.UNREAD, slowdown=SLOW)
PROMPT_TOKENS = 3_000  # about as many as those of a split
ROOM_TOKENS = 9_600


def counted(outcome: str) -> float:
    return metrics.kv_abandoned.cell((MODEL, "pool", outcome))[0]


async def test_what_one_cannot_read_another_reads_so_that_it_is_let_go() -> None:
    before = counted("released")
    async with split(has_other=True) as one:
        one.decode.engine.set_faults(UNREAD)
        await one.ask_until(lambda: counted("released") > before)
        await one.rig.wait(lambda: not one.prefill.engine.kv.pinned)
        assert one.router.fabric.pinned.is_empty


async def test_what_nobody_reads_takes_room_and_no_more_is_sent_there_than_fits() -> None:
    before = counted("left")
    small = structs.replace(order().scheduling, blocks=ROOM_TOKENS // order().scheduling.block_tokens)
    async with split(prefill=order(scheduling=small)) as one:
        one.decode.engine.set_faults(UNREAD)
        await one.ask_until(lambda: one.prefill.engine.kv.pinned * PROMPT_TOKENS > ROOM_TOKENS - PROMPT_TOKENS)
        pinned, asked = one.prefill.engine.kv.pinned, one.prompts
        await one.rig.wait(lambda: counted("left") - before == pinned)
        for _ in range(6):
            one.trust_link()
            await one.ask()
        assert (one.prefill.engine.kv.pinned, one.prompts) == (pinned, asked), "computed by those that answer"
        assert one.health.outcomes[Outcome.STALLED_BEFORE_FIRST_TOKEN.value] == 0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_client_that_is_answered_plainly_does_not_wait_for_the_letting_go(stream: bool) -> None:
    async with kv_gateway() as rig:
        rig.decode.engine.set_faults(Faults(hand_over=PoorHandOver.UNREAD))
        answer, _ = await ask(rig, stream=stream)
        assert answer.status == 200
        await rig.rig.wait_empty()
        assert rig.prefill.engine.kv.pinned == 1
        rig.prefill.engine.kv.end_leases()
        await rig.wait_idle()
