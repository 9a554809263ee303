"""A saved conversation is restored before its next turn; whatever goes wrong with that, the turn is answered."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from heterodyne.gateway.kv.slot_keeper import SlotKeeper
from heterodyne.routing.fabric.next_turns import NextTurn
from heterodyne.telemetry import metrics
from tests.faults.kv_rows import SEA, ask, words
from tests.support.kv_plans import DECODE, MODEL, KvRig, kv_gateway

PAUSE_S = 60.0  # what conversations are made to believe of their pauses


def counted(outcome: str) -> float:
    return metrics.kv_prefetches.cell((MODEL, "pool", outcome))[0]


async def turn(rig: KvRig, number: int) -> str:
    answer, _ = await ask(rig, stream=True, content=SEA * number)
    assert answer.headers["x-heterodyne-replica"] == DECODE
    return words(answer, stream=True)


def prompts(rig: KvRig) -> float:
    """Tokens of prompts that the second replica has computed."""
    return float(rig.decode.engine.observations.computed_tokens.sum)


@asynccontextmanager
async def conversation(tmp_path: Path) -> AsyncIterator[KvRig]:
    """Three turns old, saved, and not in any slot any more as far as the gateway knows."""
    slots = tmp_path / "slots"
    async with kv_gateway(slots=slots, pool={"kv_prefetch": True}) as rig:
        rig.planner.origin = rig.planner.source = None
        kv = rig.upstream.kv
        kv._keeper = SlotKeeper(idle_s=0.01)
        for number in (1, 2, 3):
            await turn(rig, number)
            (last,) = kv.prefetcher._turns._turns.values()
            await rig.rig.wait(partial(is_saved, rig, last))
        assert last.pauses == 2
        yield rig
        await rig.wait_idle()


def is_saved(rig: KvRig, turn: NextTurn) -> bool:
    replica, book = rig.upstream.fleet.wire(DECODE).replica, rig.upstream.kv.book(DECODE)
    hashes = turn.request.chain.hashes
    is_written = rig.upstream.kv.prefetcher._is_saved(replica, turn.request.tenant, hashes)
    return is_written and book is not None and not book.busy


def lose(rig: KvRig) -> NextTurn:
    """Its slot is another's, and its next turn is due."""
    kv = rig.upstream.kv
    book = kv.book(DECODE)
    assert book is not None
    book.forget()
    (last,) = kv.prefetcher._turns._turns.values()
    last.pause_s, last.answered_at_s = PAUSE_S, rig.upstream.clock() - PAUSE_S
    look(rig)
    return last


def look(rig: KvRig) -> None:
    """Nothing was expected soon, so nobody looks."""
    kv = rig.upstream.kv
    kv.prefetcher._looking = kv._group.create_task(kv.prefetcher._look(kv._group))


async def test_it_is_there_when_the_turn_comes(tmp_path: Path) -> None:
    async with conversation(tmp_path) as rig:
        taken, before = counted("taken"), rig.decode.engine.slots.restored
        lose(rig)
        await rig.rig.wait(lambda: bool(rig.upstream.kv.prefetcher._ready))
        assert rig.decode.engine.slots.restored == before + 1
        computed = prompts(rig)
        await turn(rig, 4)
        assert counted("taken") == taken + 1
        assert prompts(rig) - computed < 600, "the last of four parts"


async def test_a_turn_that_does_not_come_is_counted_as_wasted(tmp_path: Path) -> None:
    async with conversation(tmp_path) as rig:
        wasted = counted("wasted")
        last = lose(rig)
        await rig.rig.wait(lambda: bool(rig.upstream.kv.prefetcher._ready))
        last.pause_s = 0.0
        await rig.rig.wait(lambda: counted("wasted") == wasted + 1)


async def test_what_is_gone_from_the_folder_is_computed(tmp_path: Path) -> None:
    async with conversation(tmp_path) as rig:
        failed = counted("failed")
        shutil.rmtree(tmp_path / "slots")
        lose(rig)
        await rig.rig.wait(lambda: counted("failed") == failed + 1)
        await turn(rig, 4)


async def test_nothing_is_brought_while_a_slot_still_has_it(tmp_path: Path) -> None:
    async with conversation(tmp_path) as rig:
        before = rig.decode.engine.slots.restored
        (last,) = rig.upstream.kv.prefetcher._turns._turns.values()
        last.pause_s, last.answered_at_s = PAUSE_S, rig.upstream.clock() - PAUSE_S
        look(rig)
        await asyncio.sleep(0)  # it has looked once
        assert rig.decode.engine.slots.restored == before
        assert not last.is_tried
