"""Requests that wait for the store: each answers its connection until it is done, or its end comes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import ClientGone, HeterodyneError, InternalError, Overloaded, StoreUnavailable
from heterodyne.telemetry import log

WORKS_MAX: Final = 1024
TIMEOUT_S: Final = 20.0
LEAVE_S: Final = 5.0  # for what is under way when the worker ends

T = TypeVar("T")

_log = log.get("gateway")


class StoredWorks:
    """Those of one worker."""

    def __init__(self) -> None:
        self._works: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._works)

    def start(
        self,
        work: Callable[[], Awaitable[T]],
        done: Callable[[T], None],
        refused: Callable[[HeterodyneError], None],
        longest_s: float = TIMEOUT_S,
    ) -> "StoredWork":
        """Have it done; exactly one of the two is told, and `refused` also of a client that has left."""
        if len(self._works) >= WORKS_MAX:
            raise Overloaded(f"{WORKS_MAX} requests wait for the store already; try again shortly.", retry_after_s=1)
        task = asyncio.get_running_loop().create_task(_run(work, done, refused, longest_s))
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        return StoredWork(task, refused)

    async def close(self) -> None:
        """Nobody is served any more; what is being written is written."""
        if self._works:
            await asyncio.wait(tuple(self._works), timeout=LEAVE_S)
        for task in tuple(self._works):
            task.cancel()


class StoredWork:
    """One of them: the turn of its connection."""

    __slots__ = ("_refused", "_task")

    def __init__(self, task: asyncio.Task[None], refused: Callable[[HeterodyneError], None]) -> None:
        self._task = task
        self._refused = refused

    # Called by the client connection.

    def client_gone(self) -> None:
        if self._task.cancel():
            self._refused(ClientGone("The client left before the store had answered."))

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""


async def _run(
    work: Callable[[], Awaitable[Any]],
    done: Callable[[Any], None],
    refused: Callable[[HeterodyneError], None],
    longest_s: float,
) -> None:
    try:
        async with deadline(longest_s):
            result = await work()
    except HeterodyneError as error:
        refused(error)
    except TimeoutError:
        refused(StoreUnavailable(f"The store did not answer within {longest_s:g} s."))
    except Exception as error:  # noqa: BLE001  # the root of a request: our mistake must not cost an answer
        _log.error("stored_work_failed", exc_info=error)
        refused(InternalError("An internal error; the log has the details."))
    else:
        done(result)
