"""Background work that fails is told, counted, and goes on."""

import asyncio
from collections.abc import Callable

import pytest

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.telemetry import loops, metrics
from heterodyne.telemetry.loops import keep_running, run_periodically


def failures(loop: str) -> float:
    return metrics.loop_failures.cell((loop,))[0]


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left"), StoreUnavailable("away"), KeyError("ours"), MemoryError()]
)
async def test_work_that_raises_is_done_again(error: Exception) -> None:
    done = []

    def work() -> None:
        done.append(1)
        if len(done) in (1, 3):
            raise error

    name = f"test {type(error).__name__}"
    before = failures(name)
    task = asyncio.create_task(run_periodically(name, work, 0.001))
    await until(lambda: len(done) > 4)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert failures(name) - before == 2


async def test_asynchronous_work_and_groups_of_errors_are_no_different() -> None:
    done = []

    async def run() -> None:
        done.append(1)
        if len(done) < 3:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
        await asyncio.Event().wait()

    async def fail() -> None:
        raise ValueError("in a task below")

    before = failures("test group")
    task = asyncio.create_task(keep_running("test group", run))
    await until(lambda: len(done) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert failures("test group") - before == 2


async def test_what_returns_has_ended() -> None:
    await asyncio.wait_for(keep_running("test", lambda: asyncio.sleep(0)), 5)


@pytest.mark.parametrize("is_periodic", [False, True])
async def test_what_fails_as_it_is_cancelled_has_ended(is_periodic: bool) -> None:
    begun = []

    async def work() -> None:
        begun.append(1)
        try:
            await asyncio.sleep(60)
        finally:
            raise StoreUnavailable("away")

    root = run_periodically("tidying", work, 0.001) if is_periodic else keep_running("tidying", work)
    task = asyncio.create_task(root)
    await until(lambda: len(begun) == 1)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=30)
    assert done == {task}
    assert task.cancelled()
    assert len(begun) == 1


async def test_what_loses_a_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "CANCEL_AGAIN_S", 0.02)
    lost = []

    async def deaf() -> None:
        while len(lost) < 3:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost.append(1)
        await asyncio.sleep(60)

    task = asyncio.create_task(keep_running("test deaf", deaf))
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await loops.end([task])
    assert (task.cancelled(), len(lost)) == (True, 3)


def test_pauses_are_bounded() -> None:
    assert 0 < loops.PAUSE_FIRST_S <= loops.PAUSE_MAX_S <= 10, "whoever recovers is noticed within seconds"
