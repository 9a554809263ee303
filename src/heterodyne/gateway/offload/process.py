"""The process beside a worker that works on large bodies: begun with the first of them, begun again when it has died.

It works on one job at a time. Those that wait take turns by their owner, so that one tenant's bodies do not keep those
of another waiting longer than the one in work. In the worker a job costs the reading and writing of its bytes alone,
a socket buffer at a time.
"""

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Protocol

from heterodyne.domain.errors import HeterodyneError, InternalError, Overloaded
from heterodyne.gateway.offload.job import HEAD, Job, JobFailed, Result, decode_result, encode, failure_of
from heterodyne.telemetry import log
from heterodyne.wire.pacing import LARGE_READ_BYTES, PacedWrite, rest

JOB_TIMEOUT_S = 60.0  # of one job; a body of the default limit takes two seconds at worst

Done = Callable[[Result, bytes], None]

_log = log.get("gateway")


class PendingWork(Protocol):
    """What is waited for, until nobody does."""

    def cancel(self) -> None:
        """Nobody does any more."""
        ...


class PendingJob:
    """A job that is not done yet."""

    __slots__ = ("body", "done", "message", "owner")

    def __init__(self, message: bytes, body: Sequence[bytes], owner: bytes, done: Done) -> None:
        self.message = message
        self.body = body
        self.owner = owner
        self.done: Done | None = done

    def cancel(self) -> None:
        """Nobody wants to know any more: it is not begun, and what comes of one that was is thrown away."""
        self.done = None
        self.body = ()

    def end(self, result: Result, body: bytes) -> None:
        done, self.done = self.done, None
        if done is not None:
            done(result, body)


class Offload(asyncio.Protocol):
    """One per worker. `module` is run with the number of a socket and does what it is told there."""

    def __init__(self, module: str, clock: Callable[[], float]) -> None:
        self._module = module
        self._clock = clock
        self._waiting: OrderedDict[bytes, deque[PendingJob]] = OrderedDict()
        self._current: PendingJob | None = None
        self._since_s = 0.0  # when the current job, or the start of the process, began
        self._process: subprocess.Popen[bytes] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._message = bytearray()  # of the result that is coming in, with its head
        self._body: BytesIO | None = None  # behind it, once the message is complete
        self._is_closed = False

    def submit(self, job: Job, body: Sequence[bytes], owner: bytes, done: Done) -> PendingJob:
        """Have a job done; `done` is told later, once, unless the job is cancelled."""
        pending = PendingJob(encode(job), body, owner, done)
        self._waiting.setdefault(owner, deque()).append(pending)
        self._advance()
        return pending

    @property
    def jobs(self) -> int:
        """Waiting or in work."""
        waiting = sum(1 for queue in self._waiting.values() for job in queue if job.done is not None)
        return waiting + (self._current is not None and self._current.done is not None)

    def check(self, now_s: float) -> None:
        """End a process that has been at one job for too long."""
        if self._current is not None and now_s - self._since_s > JOB_TIMEOUT_S and self._process is not None:
            self._process.kill()

    async def close(self) -> None:
        """No job is done any more; no process is left."""
        self._is_closed = True
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await starting
        if self._transport is not None:
            self._transport.abort()
        await self._end_process()
        self._give_up(Overloaded("The gateway shut down before the body was read.", retry_after_s=1))

    # Called by the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a socket's transport reads and writes

    def data_received(self, data: bytes) -> None:
        if len(data) >= LARGE_READ_BYTES:
            rest(self._transport, lambda: False)
        if self._body is None:
            message = self._message
            message += data
            if len(message) < HEAD.size or len(message) < (end := HEAD.size + HEAD.unpack_from(message)[0]):
                return
            self._body = BytesIO()
            data = bytes(message[end:])
            del message[end:]
        self._body.write(data)
        if self._body.tell() >= HEAD.unpack_from(self._message)[1]:
            self._complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Whatever it was at has ended it; the others are for the next."""
        self._transport, self._message, self._body = None, bytearray(), None
        current, self._current = self._current, None
        if current is not None:
            _log.warning("offload_died", waiting=self.jobs)
            current.end(failure_of(InternalError("The process that reads large bodies died; try a smaller one.")), b"")
        if self._waiting and not self._is_closed:
            self._advance()

    def _complete(self) -> None:
        assert self._body is not None
        result, body = decode_result(self._message[HEAD.size :]), self._body.getvalue()  # no copy of what was written
        self._message, self._body = bytearray(), None
        current, self._current = self._current, None
        if current is not None:
            current.end(result, body)
        self._advance()

    def _advance(self) -> None:
        """Give the process the next job, where it has none."""
        if self._current is not None or self._starting is not None or self._is_closed:
            return
        if self._transport is None or self._transport.is_closing():
            if self._waiting:
                self._since_s = self._clock()
                self._starting = asyncio.get_running_loop().create_task(self._start())
            return
        job = self._try_next()
        if job is not None:
            self._current, self._since_s = job, self._clock()
            head = HEAD.pack(len(job.message), sum(map(len, job.body))) + job.message
            PacedWrite(self._transport, (head, *job.body))

    def _try_next(self) -> PendingJob | None:
        """Of the owner whose turn it is."""
        while self._waiting:
            owner, queue = self._waiting.popitem(last=False)
            job = queue.popleft()
            if queue:
                self._waiting[owner] = queue
            if job.done is not None:
                return job
        return None

    async def _start(self) -> None:
        """A process, and a socket to it; where there is none to be had, nobody waits for one."""
        try:
            await self._end_process()
            await self._begin_process()
        except OSError as error:
            _log.error("offload_not_started", error=str(error))
            self._starting = None
            self._give_up(Overloaded("Large bodies cannot be read now; try again shortly.", retry_after_s=1))
            return
        self._starting = None
        self._advance()

    async def _begin_process(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603  # a millisecond; our own module
                [sys.executable, "-m", self._module, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
            ours.setblocking(False)
            await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()

    async def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            await asyncio.to_thread(process.wait)

    def _give_up(self, error: HeterodyneError) -> None:
        failed: JobFailed = failure_of(error)
        while (job := self._try_next()) is not None:
            job.end(failed, b"")
        current, self._current = self._current, None
        if current is not None:
            current.end(failed, b"")
