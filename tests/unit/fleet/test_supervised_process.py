"""A child kept alive, with a real one."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.testing.serve_process import is_alive


@asynccontextmanager
async def kept_alive(
    mood: str,
    *,
    start_timeout_s: float = 10.0,
    stop_timeout_s: float = 5.0,
    on_exit: Callable[[str], None] | None = None,
) -> AsyncIterator[SupervisedProcess]:
    process = SupervisedProcess(
        "child",
        "tests.support.tiny_child",
        mood.encode(),
        start_timeout_s=start_timeout_s,
        stop_timeout_s=stop_timeout_s,
        on_exit=on_exit,
    )
    task = asyncio.create_task(process.run())
    try:
        yield process
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_child_says_that_it_works_and_ends_with_its_parent() -> None:
    async with kept_alive("serves") as process:
        await process.started.wait()
        assert process.answer == b'{"listening":1}\n'
        pid = process.pid
        assert pid is not None
        assert is_alive(pid)
    assert not is_alive(pid)
    assert process.restarts == 0


async def test_a_child_that_is_killed_is_started_again() -> None:
    exits: list[str] = []
    async with kept_alive("serves", on_exit=exits.append) as process:
        await process.started.wait()
        first = process.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await until(lambda: process.pid not in (first, None))
        assert exits == ["child"]
        assert process.restarts == 1
        assert process.pid is not None
        assert is_alive(process.pid)


async def test_a_child_that_keeps_dying_is_waited_for_longer_and_longer() -> None:
    begun = asyncio.get_running_loop().time()
    async with kept_alive("dies") as process:
        await until(lambda: process.restarts == 2)
    assert asyncio.get_running_loop().time() - begun > 0.25


async def test_a_child_that_cannot_work_has_not_started() -> None:
    async with kept_alive("fails") as process:
        await until(lambda: process.restarts == 1)
        assert not process.started.is_set()
        assert b"error" in process.answer


async def test_a_child_that_says_nothing_is_ended_and_tried_again() -> None:
    async with kept_alive("silent", start_timeout_s=0.3) as process:
        await until(lambda: process.pid is not None)
        first = process.pid
        await until(lambda: process.restarts == 1)
        assert first is not None
        assert not is_alive(first)


async def test_a_child_that_will_not_leave_is_killed() -> None:
    async with kept_alive("stubborn", stop_timeout_s=0.2) as process:
        await process.started.wait()
        pid = process.pid
        assert pid is not None
    assert not is_alive(pid)


async def test_a_restart_that_was_asked_for_is_quick_and_not_counted() -> None:
    async with kept_alive("serves") as process:
        await process.started.wait()
        first = process.pid
        await process.restart()
        async with asyncio.timeout(30):
            await process.started.wait()
        assert process.pid != first
        assert process.restarts == 0


async def test_a_newer_order_reaches_the_child_that_runs_and_those_after_it() -> None:
    async with kept_alive("obeys") as process:
        await process.started.wait()
        assert process.pid is not None
        process.give(b"dies")
        await until(lambda: process.answer == b'{"listening":1}\n' and process.restarts > 0)
