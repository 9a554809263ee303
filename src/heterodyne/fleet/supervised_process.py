"""A child process kept alive: started, watched, restarted with back-off, ended when its parent ends.

The child gets its order as the first line on standard input and says one line of JSON on standard output once it
works. A child that understands them gets newer orders as further lines. Its standard input stays open for as long as
its parent lives: the end of it, however it comes about, is the child's sign to leave, so that not even a killed parent
leaves a child behind.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping

from heterodyne.concurrency.deadline import deadline
from heterodyne.concurrency.feed import feed
from heterodyne.telemetry import log

BACKOFF_FIRST_S = 0.25
BACKOFF_LAST_S = 10.0
STEADY_S = 30.0  # a child that lived this long earned a quick restart

_log = log.get("fleet")


class SupervisedProcess:
    """One `python -m MODULE` child."""

    def __init__(
        self,
        name: str,
        module: str,
        order: bytes,
        *,
        start_timeout_s: float,
        stop_timeout_s: float,
        on_start: Callable[[], None] | None = None,
        on_exit: Callable[[str], None] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`environment` is for what the parent's own does not say."""
        self.name = name
        self._module = module
        self._order = order
        self._start_timeout_s = start_timeout_s
        self.stop_timeout_s = stop_timeout_s
        self._on_start = on_start
        self._on_exit = on_exit
        self._environment = environment or {}
        self._process: asyncio.subprocess.Process | None = None
        self.started = asyncio.Event()  # set once the child has first written that it works
        self.answer = b""  # what it wrote
        self.restarts = 0  # that were not asked for
        self._wakes = asyncio.Event()  # another child is asked for

    @property
    def is_running(self) -> bool:
        """Whether there is a child now; it may not work yet."""
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def give(self, order: bytes) -> None:
        """A newer order: another line for the child that runs, the first one for those after it."""
        self._order = order
        stdin = self._process.stdin if self._process is not None and self.is_running else None
        if stdin is not None and not stdin.is_closing():
            stdin.write(order + b"\n")

    async def restart(self, order: bytes | None = None) -> None:
        """End the child and have the next one begin at once; `started` is set when that one works."""
        self._order = order if order is not None else self._order
        self.started.clear()
        self._wakes.set()
        await self._end()

    async def run(self) -> None:
        """Keep the child alive until cancelled, then end it."""
        clock = asyncio.get_running_loop().time
        backoff_s = BACKOFF_FIRST_S
        try:
            while True:
                born_s = clock()
                await self._live()
                lived_s = clock() - born_s
                if self._wakes.is_set():
                    self._wakes.clear()
                    backoff_s = BACKOFF_FIRST_S
                    continue
                if lived_s > STEADY_S:
                    backoff_s = BACKOFF_FIRST_S
                self.restarts += 1
                _log.warning("process_restarts", process=self.name, lived_s=round(lived_s, 2), in_s=backoff_s)
                with contextlib.suppress(TimeoutError):
                    async with deadline(backoff_s):
                        await self._wakes.wait()
                self._wakes.clear()
                backoff_s = min(backoff_s * 2, BACKOFF_LAST_S)
        finally:
            await self._end()

    async def _live(self) -> None:
        """One life of the child, from start to exit."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            self._module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**self._environment, **os.environ},
            start_new_session=True,  # a Ctrl-C at the terminal is for the parent, which then ends its children in order
        )
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        # A child that died before reading its order is reported by its exit below.
        with contextlib.suppress(ConnectionError):
            await feed(process.stdin, self._order + b"\n")
        try:
            async with deadline(self._start_timeout_s):
                self.answer = await process.stdout.readline()
        except TimeoutError:
            _log.error("process_slow_to_start", process=self.name, waited_s=self._start_timeout_s)
            await self._end()
            return
        if b'"error"' in self.answer or not self.answer:
            _log.error("process_failed_to_start", process=self.name, said=self.answer.decode(errors="replace").strip())
        else:
            _log.info("process_started", process=self.name, pid=process.pid)
            self.started.set()
            if self._on_start is not None:
                self._on_start()
        code = await process.wait()
        _log.warning("process_exited", process=self.name, pid=process.pid, code=code)
        if self._on_exit is not None:
            self._on_exit(self.name)

    async def _end(self) -> None:
        """Ask, wait, insist."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with deadline(self.stop_timeout_s):
                await process.wait()
        except TimeoutError:
            _log.warning("process_killed", process=self.name, pid=process.pid, waited_s=self.stop_timeout_s)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
