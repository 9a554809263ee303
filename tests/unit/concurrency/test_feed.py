"""Children that end before they have read what they are told."""

import asyncio

import pytest

from heterodyne.concurrency.feed import feed

LONG = b"x" * 1_000_000


async def test_a_child_that_has_ended_is_a_broken_connection() -> None:
    child = await asyncio.create_subprocess_exec("true", stdin=asyncio.subprocess.PIPE)
    await child.wait()
    assert child.stdin is not None
    with pytest.raises(ConnectionError):
        await feed_often(child.stdin)


async def feed_often(pipe: asyncio.StreamWriter) -> None:
    """The loop hears of the end at one of its turns."""
    for _ in range(100):
        await feed(pipe, LONG)
        await asyncio.sleep(0.01)


async def test_a_child_that_reads_has_it_all() -> None:
    child = await asyncio.create_subprocess_exec(
        "wc", "-c", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    await feed(child.stdin, LONG)
    child.stdin.close()
    assert int(await child.stdout.read()) == len(LONG)
    assert await child.wait() == 0
