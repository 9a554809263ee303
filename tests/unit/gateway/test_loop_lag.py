"""The longest turn of a loop is measured whatever it was spent on, and told for a minute."""

import asyncio
import time

from heterodyne.gateway.loop_lag import SPAN_S, SPANS, LoopLagMonitor

TURN_S = 0.05


async def watched(turn: "list[float]", *, is_work: bool) -> LoopLagMonitor:
    """A watch that has seen one long turn of work, or of waiting."""
    watch = LoopLagMonitor()
    watch.wake()
    await asyncio.sleep(0.02)
    began_s, used_s = time.monotonic(), time.thread_time()
    if is_work:
        while time.thread_time() - used_s < TURN_S:
            sum(range(100))
    else:
        time.sleep(TURN_S)  # what a loop must not do
    turn.append(time.monotonic() - began_s)
    await asyncio.sleep(0.02)
    watch.sleep()
    return watch


async def test_work_shows_on_both_clocks() -> None:
    watch = await watched([], is_work=True)
    wall_s, processor_s = watch.longest_s
    assert processor_s > 0.9 * TURN_S
    assert wall_s >= processor_s


async def test_waiting_shows_on_the_walls_alone() -> None:
    turn: list[float] = []
    watch = await watched(turn, is_work=False)
    wall_s, processor_s = watch.longest_s
    assert wall_s > 0.9 * TURN_S
    assert processor_s < TURN_S / 2


def test_it_is_forgotten_after_a_minute() -> None:
    watch = LoopLagMonitor()
    now_s = time.monotonic()
    watch._observe(now_s, 0.5, 0.25)
    assert watch.longest_s == (0.5, 0.25)
    watch._turn_to(now_s + SPAN_S * (SPANS - 1))
    assert max(watch._wall_s) == 0.5
    watch._turn_to(now_s + SPAN_S * (SPANS + 1))
    assert max(watch._wall_s) == 0.0
