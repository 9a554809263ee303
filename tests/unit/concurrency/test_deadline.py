import asyncio

import pytest

from heterodyne.concurrency.deadline import deadline, deadline_at


async def test_what_ends_in_time_is_left_alone():
    async with deadline(30.0):
        await asyncio.sleep(0)


async def test_what_does_not_end_is_told_by_a_timeout_error():
    with pytest.raises(TimeoutError):
        async with deadline(0.01):
            await asyncio.Event().wait()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_deadline_that_has_passed_still_lets_what_is_ready_end():
    async with deadline(-1.0):
        pass
    with pytest.raises(TimeoutError):
        async with deadline_at(asyncio.get_running_loop().time() - 1):
            await asyncio.Event().wait()


async def test_a_deadline_in_the_clean_up_of_a_cancelled_task_holds():
    """The child that will not leave: Python 3.11.2's own time-out raises `CancelledError` here."""
    reached = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            try:
                async with deadline(0.01):
                    await asyncio.Event().wait()
            except TimeoutError:
                reached.append("insisted")

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reached == ["insisted"]


async def test_a_cancellation_inside_the_block_stays_a_cancellation():
    async def work() -> None:
        async with deadline(30.0):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def test_a_cancellation_beside_the_end_of_the_time_is_not_lost():
    async def work() -> None:
        async with deadline(0.0):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()  # somebody else, in the same turn
                raise

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_deadlines_inside_one_another_each_end_their_own_block():
    async def inner() -> None:
        with pytest.raises(TimeoutError):
            async with deadline(0.01):
                await asyncio.Event().wait()
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with deadline(0.02):
            await inner()


async def test_a_deadline_can_be_put_off():
    loop = asyncio.get_running_loop()
    async with deadline(0.01) as limit:
        limit.reschedule(loop.time() + 30.0)
        await asyncio.sleep(0.03)


async def test_an_error_of_the_block_is_its_own():
    with pytest.raises(ValueError, match="mine"):
        async with deadline(30.0):
            raise ValueError("mine")
