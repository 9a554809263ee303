"""The roots of what runs for as long as its process does: an error is logged and counted, and the work goes on.

Nothing that runs in the background may end what serves. Such work is started through one of these.
"""

import asyncio
import contextlib
import inspect
import time
from collections.abc import Awaitable, Callable, Sequence

from heterodyne.domain.errors import HeterodyneError
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

PAUSE_FIRST_S = 0.5
PAUSE_MAX_S = 10.0
CANCEL_AGAIN_S = 5.0
STEADY_S = 30.0  # what ran for so long earned a quick new beginning

_log = log.get("telemetry")


async def run_periodically(name: str, work: Callable[[], object], interval_s: float) -> None:
    """Do `work` now and after every interval, until cancelled; after an error the pauses grow, up to PAUSE_MAX_S."""
    trouble, pause_s = Trouble(_log, "loop_failed", loop=name), interval_s
    while True:
        try:
            done = work()
            if inspect.isawaitable(done):
                await _watched(name, trouble, done)
            trouble.worked()
            pause_s = interval_s
        except Exception as error:  # noqa: BLE001  # the root of the task
            note_failure(name, trouble, error)
            pause_s = min(max(2 * pause_s, PAUSE_FIRST_S), max(PAUSE_MAX_S, interval_s))
        await asyncio.sleep(pause_s)


async def keep_running(name: str, run: Callable[[], Awaitable[object]]) -> None:
    """Run it until it returns or is cancelled; after an error it begins again, later each time it fails soon."""
    trouble, pause_s = Trouble(_log, "loop_failed", loop=name), PAUSE_FIRST_S
    while True:
        began_s = time.monotonic()
        try:
            await _watched(name, trouble, run())
        except Exception as error:  # noqa: BLE001  # the root of the task
            if time.monotonic() - began_s > STEADY_S:
                trouble.worked()
                pause_s = PAUSE_FIRST_S
            note_failure(name, trouble, error)
        else:
            return
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, PAUSE_MAX_S)


async def _watched(name: str, trouble: Trouble, work: Awaitable[object]) -> None:
    """Wait for it in a task of its own: else what fails while it tidies up hides that all of this was cancelled.

    The loop would begin again then, and its process stay for ever.
    """
    task = asyncio.create_task(_await(work))
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        while not task.done():  # whoever cancels this again cancels that again
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            note_failure(name, trouble, error)
        raise
    await task


async def _await(work: Awaitable[object]) -> None:
    await work


async def end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel them until all are over: a client library may lose a cancellation that comes as its own wait ends."""
    while left := [task for task in tasks if not task.done()]:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=CANCEL_AGAIN_S)


def note_failure(name: str, trouble: Trouble, error: BaseException) -> None:
    """Count and say it; what the world does to us needs no traceback."""
    metrics.loop_failures.add((name,))
    trouble.failed(error, is_ours=not isinstance(error, HeterodyneError | OSError))
