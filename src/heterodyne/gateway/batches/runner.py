"""A worker's share of all batches: as many lines at once as there is room that nobody who waits needs.

Whether there is room is for admission and routing to say: a line of batch work that finds none waits in the fair queue
of its model. So no more are asked than a few that wait; the others wait on the disk.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import DecodeError

from heterodyne.batches.notice import Notices
from heterodyne.batches.pace import WAITING_MAX
from heterodyne.concurrency.deadline import deadline
from heterodyne.gateway.batches.batch_run import Ask, BatchRun
from heterodyne.telemetry import log
from heterodyne.telemetry.trouble import Trouble

LOOK_S: Final = 0.5  # between two looks at which batches there are
TURN_S: Final = 0.02  # between two looks at how many lines wait
RUNNING_MAX: Final = 2048  # lines of one worker that are asked
ASKED_AT_ONCE: Final = 8  # lines of one batch, before others are looked at, and the loop goes on


class BatchRunner:
    """One per worker."""

    def __init__(
        self,
        run_dir: Path,
        ask: Ask,
        *,
        waiting: Callable[[str], int],
        is_draining: Callable[[], bool],
        longest_s: float,
        clock: Callable[[], float],
    ) -> None:
        """`waiting` says how many lines of a project wait for their turn, `longest_s` how long one may."""
        self._notices = Notices(run_dir)
        self._ask = ask
        self._waiting = waiting
        self._is_draining = is_draining
        self._longest_s = longest_s
        self._clock = clock
        self._runs: dict[str, BatchRun] = {}
        self._awake = asyncio.Event()
        self._trouble = Trouble(log.get("batches"), "batches_not_seen")

    async def run(self) -> None:
        """Until cancelled."""
        look_at_s = 0.0
        try:
            while True:
                # A worker that drains ends what it has asked: its supervisor may have been killed, and the next one has
                # swept the notices away. A line that is cut off would be charged, and asked and charged again.
                if not self._is_draining():
                    if self._clock() >= look_at_s:
                        await self._try_look()
                        look_at_s = self._clock() + LOOK_S
                    self._ask_some()
                await self._pause()
        finally:
            for run in self._runs.values():
                await run.stop()
            self._runs.clear()

    async def _try_look(self) -> None:
        """A look that fails ends nothing: lines that are asked go on."""
        try:
            await self._look()
        except (OSError, DecodeError) as error:
            self._trouble.failed(error)
        else:
            self._trouble.worked()

    async def _look(self) -> None:
        there = self._notices.try_ids()
        if there is None:
            return
        for batch in [one for one in self._runs if one not in there]:
            await self._runs.pop(batch).stop()
        for batch in there - self._runs.keys():
            notice = self._notices.try_read(batch)
            if notice is not None:
                self._runs[batch] = BatchRun(notice, self._ask, self._clock, self._awake.set, self._longest_s)

    def _ask_some(self) -> None:
        """Some lines of each batch; none of a project whose lines wait."""
        running = sum(run.in_flight for run in self._runs.values())
        for batch, run in list(self._runs.items()):
            for _ in range(ASKED_AT_ONCE):
                if running >= RUNNING_MAX or not run.may_ask() or self._waiting(run.notice.project) >= WAITING_MAX:
                    break
                run.ask_next()
                running += 1
                self._awake.set()  # there may be room for more
            # Whoever was first comes last the next time.
            self._runs[batch] = self._runs.pop(batch)

    async def _pause(self) -> None:
        """A moment, for what is to be asked next; long where there is nothing to ask."""
        if self._awake.is_set():
            self._awake.clear()
            await asyncio.sleep(0)
            return
        with suppress(TimeoutError):
            async with deadline(TURN_S if self._runs else LOOK_S):
                await self._awake.wait()
