"""A new replica is given the hottest prompts before it takes traffic, for a bounded time, whatever it does."""

import time
from pathlib import Path
from typing import Any

import pytest

from heterodyne.domain.fleet import Health, ReplicaId
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.gateway.kv.slot_keeper import SlotKeeper
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.routing.kv.conversations import hottest_of
from tests.faults.warm_up_rows import SYSTEMS, WARM_UP_BOUND_S, WARM_UP_FAULTS, run_warm_up_row, slow
from tests.support.emulators import order
from tests.support.growing_fleets import NEW, SEA, GrowingFleet, computed, growing_fleet, prompted, warmed

OLD = ReplicaId("pool-0")
FIRST = 50
SLACK_S = 5.0  # looks, and a slow machine
IN_TURN: dict[str, Any] = {"model": {"policy": "round-robin"}, "routing": {"slow_start_s": 0.001}}


async def talk(fleet: GrowingFleet, times: int = 2, length: int = 1) -> None:
    """Of eight applications, each with what all of its prompts begin with."""
    for turn in range(times):
        for system in SYSTEMS:
            await fleet.ask(f"{system * length} question {turn}")


async def first_requests(prompts: int, length: int = 6) -> tuple[float, float]:
    """Where every other request goes to the new replica: the share of their prompts that it had, and its mean time to
    their first tokens, both as it counts itself."""
    async with growing_fleet(of=order(speed=1.0), pool={"kv_warm_up": prompts}, **IN_TURN) as fleet:
        await talk(fleet, length=length)
        await fleet.grow()
        new = fleet.engines[1]
        before, ttft_s = (computed(new), prompted(new)), new.engine.observations.ttft_s
        sum_s, count = ttft_s.sum, ttft_s.buckets()[-1][1]
        for number in range(FIRST):
            await fleet.ask(f"{SYSTEMS[number % 7] * length} another question {number}", max_tokens=1)
        held = 1.0 - (computed(new) - before[0]) / (prompted(new) - before[1])
        return held, (ttft_s.sum - sum_s) / (ttft_s.buckets()[-1][1] - count)


async def test_the_first_requests_of_a_new_replica_find_their_beginnings_there() -> None:
    cold, cold_s = await first_requests(0)
    warm, warm_s = await first_requests(8)
    print(f"\nof {FIRST} requests: {cold:.0%} cached and {1000 * cold_s:.1f} ms, {warm:.0%} and {1000 * warm_s:.1f} ms")
    assert cold < 0.8
    assert warm > 0.9


async def test_the_index_knows_what_a_new_replica_holds() -> None:
    async with growing_fleet() as fleet:
        await talk(fleet)
        before = warmed("computed")
        await fleet.grow()
        assert warmed("computed") - before == len(SYSTEMS)
        router = fleet.upstream.router
        hottest = hottest_of(router.fabric.conversations.of("llama-3.1-8b"), len(SYSTEMS), time.monotonic())
        state = router.state(NEW)
        assert state is not None
        assert len(hottest) == len(SYSTEMS)
        assert all(router._index.matches(one.chain).tokens(state.place) == one.tokens for one in hottest)


async def test_it_takes_no_traffic_meanwhile() -> None:
    async with growing_fleet(pool={"kv_warm_up_s": 60.0}) as fleet:
        await talk(fleet, times=1)
        await slow(fleet)
        for _ in range(5):
            assert (await fleet.ask(SEA)).headers["x-heterodyne-replica"] == OLD
        assert fleet.health() is Health.STARTING


@pytest.mark.parametrize("row", WARM_UP_FAULTS)
async def test_whatever_a_new_replica_does_users_are_answered_and_nothing_stays(row: str) -> None:
    seen = await run_warm_up_row(row)
    assert (seen.answered, seen.held) == (5, False)
    assert seen.after_s < WARM_UP_BOUND_S + SLACK_S


async def test_one_that_answers_alone_is_not_kept_waiting() -> None:
    async with growing_fleet(replicas=1) as fleet:
        await talk(fleet, times=1)
        (only,) = fleet.engines
        await only.close()
        await fleet.rig.wait(lambda: fleet.rig.gateway.takeable() == 0)
        await only.open()
        await fleet.rig.wait(lambda: fleet.rig.gateway.takeable() == 1)
        assert prompted(only) == 0


async def test_without_the_setting_no_prompt_is_kept() -> None:
    async with growing_fleet(pool={"kv_warm_up": 0}) as fleet:
        await talk(fleet, times=1)
        await fleet.grow()
        await fleet.ask(SEA)
        assert len(fleet.upstream.prompts) == 0


async def test_prompts_go_when_the_setting_does() -> None:
    async with growing_fleet(pool={"kv_warm_up": 1}) as fleet:
        await fleet.ask(SEA)
        assert len(fleet.upstream.prompts) == 1
        fleet.apply(1, kv_warm_up=0)
        await fleet.rig.wait(lambda: len(fleet.upstream.prompts) == 0)


async def test_slots_are_restored_from_files_where_there_are_any(tmp_path: Path) -> None:
    slots = tmp_path / "slots"
    pool = {"engine": "llamacpp", "kv_transfer": "slots", "kv_store": "disk", "version": "1"}
    stores = {"disk": KvStoreSettings(medium="disk", capacity_gb=1.0, path=str(slots))}
    emulated = order(engine=EngineKind.LLAMACPP, slot_folder=str(slots))
    async with growing_fleet(of=emulated, pool=pool, kv_stores=stores, **IN_TURN) as fleet:
        await fleet.rig.wait(lambda: fleet.upstream.kv.book(OLD) is not None)
        fleet.upstream.kv._keeper = SlotKeeper(idle_s=0.01)  # which saves when no other slot has anything to do
        for count, system in enumerate(SYSTEMS[:2], 1):
            await fleet.ask(system)
            await fleet.rig.wait(lambda count=count: len(list(slots.glob("*.json"))) == count)
        fleet.upstream.kv._keeper = SlotKeeper()
        await fleet.ask(SYSTEMS[2])  # which is not saved yet
        before = warmed("restored"), warmed("computed")
        await fleet.grow()
        new = fleet.engines[1]
        assert (warmed("restored") - before[0], warmed("computed") - before[1]) == (2, 1)
        counted = computed(new)
        answers = [await fleet.ask(system) for system in SYSTEMS[:3] for _ in range(2)]
        assert {answer.headers["x-heterodyne-replica"] for answer in answers} == {OLD, NEW}
        assert computed(new) - counted < 100, "of three prompts of 440 tokens"
        book = fleet.upstream.kv.book(NEW)
        assert book is not None
        await fleet.rig.wait(lambda: not book.busy)
