"""A deadline for whatever is awaited inside it, which holds in a task that is being cancelled, too.

Where a task cleans up after its own cancellation, `asyncio.timeout` of Python 3.11.0 to 3.11.2 raises `CancelledError`
when the time is over, so that whatever should follow a `TimeoutError` (the kill of a child that will not leave) never
happens. This one counts the cancellations it finds on entry, and is the same on every Python.
"""

import asyncio
from types import TracebackType
from typing import Self


class Deadline:
    """Raises `TimeoutError` out of its block once the loop's clock has passed it.

    async with deadline(2.0):
        await process.wait()
    """

    __slots__ = ("_cancelling", "_is_over", "_task", "_timer", "_when_s")

    def __init__(self, when_s: float) -> None:
        self._when_s = when_s
        self._is_over = False
        self._cancelling = 0  # cancellations of the task that were asked for before the block
        self._task: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self._task = task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline is taken inside a task")
        self._cancelling = task.cancelling()
        self.reschedule(self._when_s)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        timer, self._timer = self._timer, None
        assert task is not None
        if timer is not None:
            timer.cancel()
        # The task may have been cancelled from elsewhere meanwhile: then that is raised, not the time-out.
        if self._is_over and task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def reschedule(self, when_s: float) -> None:
        """Another moment by the loop's clock, from inside the block."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._is_over:
            self._timer = asyncio.get_running_loop().call_at(when_s, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if self._task is not None:
            self._is_over = True
            self._task.cancel()


def deadline(seconds: float) -> Deadline:
    """As long as this from now; `seconds` may be zero or less, for a last look at what is there already."""
    return Deadline(asyncio.get_running_loop().time() + seconds)


def deadline_at(when_s: float) -> Deadline:
    """Until a moment by the loop's clock."""
    return Deadline(when_s)
