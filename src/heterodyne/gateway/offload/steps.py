"""Requests that wait for the process beside the worker: each answers its connection until that is done, or its end
comes."""

from collections.abc import Callable

from heterodyne.domain.errors import ClientGone, DeadlineExceeded, Draining, HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.offload.job import BodyRead, Job, JobFailed, Result, error_of, request_of
from heterodyne.gateway.offload.large import ReadPrompt
from heterodyne.gateway.offload.process import Offload, PendingJob

Done = Callable[[Result, bytes], None]
Refused = Callable[[HeterodyneError], None]


class OffloadedSteps:
    """Those of one worker."""

    def __init__(self, offload: Offload) -> None:
        self.offload = offload
        self._waiting: set[OffloadedStep] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(
        self, job: Job, body: bytes, owner: bytes, *, deadline_s: float, done: Done, refused: Refused
    ) -> "OffloadedStep":
        """Have a job done; exactly one of the two is told, and `refused` also of a client that has left."""
        step = OffloadedStep(self._waiting, done, refused, deadline_s)
        self._waiting.add(step)
        step.job = self.offload.submit(job, (body,), owner, step.done)
        return step

    def check(self, now_s: float) -> None:
        """Refuse those whose deadline has passed, and end a process that is stuck."""
        for step in [step for step in self._waiting if now_s > step.deadline_s]:
            step.end(DeadlineExceeded("The deadline passed before the body was read."))
        self.offload.check(now_s)

    def close(self) -> None:
        """Nobody waits any more."""
        for step in tuple(self._waiting):
            step.end(Draining("The gateway shut down before the body was read."))


class OffloadedStep:
    """One of them: the turn of its connection."""

    __slots__ = ("_done", "_refused", "_waiting", "deadline_s", "job")

    def __init__(self, waiting: "set[OffloadedStep]", done: Done, refused: Refused, deadline_s: float) -> None:
        self._waiting = waiting
        self._done = done
        self._refused = refused
        self.deadline_s = deadline_s
        self.job: PendingJob | None = None

    def done(self, result: Result, made: bytes) -> None:
        """It was done, or cannot be."""
        if isinstance(result, JobFailed):
            self.end(error_of(result))
        else:
            self._waiting.discard(self)
            self._done(result, made)

    def end(self, error: HeterodyneError) -> None:
        """It will not be done."""
        self._waiting.discard(self)
        if self.job is not None:
            self.job.cancel()
        self._refused(error)

    # Called by the client connection.

    def client_gone(self) -> None:
        self.end(ClientGone("The client left before its request was read."))

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""


def large_request(result: BodyRead, made: bytes, body: bytes) -> Request:
    """The request that was read from a large body."""
    prompt = made[: len(made) - result.body_bytes]
    request = request_of(result.request, made[len(prompt) :] if result.body_bytes else body)
    if result.body_bytes:
        request.received = body
    if result.prompt_bytes:
        request.prompt = ReadPrompt(prompt, result.opening, result.prompt_bytes)
    request.is_large = True
    return request
