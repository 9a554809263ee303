"""Requests whose large bodies are being read: each answers its connection until it is understood, or its end comes."""

from collections.abc import Callable

from heterodyne.domain.errors import ClientGone, DeadlineExceeded, Draining, HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.offload.job import BodyRead, JobFailed, ReadBody, Result, error_of, request_of
from heterodyne.gateway.offload.large import ReadPrompt
from heterodyne.gateway.offload.process import Offload, PendingJob

Understood = Callable[[Request], None]
Refused = Callable[[HeterodyneError], None]


class LargeReads:
    """Those of one worker."""

    def __init__(self, offload: Offload) -> None:
        self._offload = offload
        self._reading: set[LargeRead] = set()

    def __len__(self) -> int:
        return len(self._reading)

    def read(self, job: ReadBody, body: bytes, owner: bytes, understood: Understood, refused: Refused) -> "LargeRead":
        """Have a body read; exactly one of the two is told, and `refused` also of a client that has left."""
        one = LargeRead(self._reading, job, body, understood, refused)
        self._reading.add(one)
        one.job = self._offload.submit(job, (body,), owner, one.done)
        return one

    def check(self, now_s: float) -> None:
        """Refuse those whose deadline has passed, and end a process that is stuck."""
        for one in [one for one in self._reading if now_s > one.deadline_s]:
            one.end(DeadlineExceeded("The deadline passed before the body was read."))
        self._offload.check(now_s)

    def close(self) -> None:
        """Nobody is read any more."""
        for one in tuple(self._reading):
            one.end(Draining("The gateway shut down before the body was read."))


class LargeRead:
    """One of them: the turn of its connection."""

    __slots__ = ("_body", "_reading", "_refused", "_understood", "deadline_s", "job")

    def __init__(
        self, reading: "set[LargeRead]", job: ReadBody, body: bytes, understood: Understood, refused: Refused
    ) -> None:
        self._reading = reading
        self._body = body
        self._understood = understood
        self._refused = refused
        self.deadline_s = job.deadline_s
        self.job: PendingJob | None = None

    def done(self, result: Result, made: bytes) -> None:
        """It was read, or cannot be."""
        if isinstance(result, BodyRead):
            self._reading.discard(self)
            prompt = made[: len(made) - result.body_bytes]
            request = request_of(result.request, made[len(prompt) :] if result.body_bytes else self._body)
            if result.body_bytes:
                request.received = self._body
            if result.prompt_bytes:
                request.prompt = ReadPrompt(prompt, result.opening, result.prompt_bytes)
            request.is_large = True
            self._understood(request)
        else:
            assert isinstance(result, JobFailed)
            self.end(error_of(result))

    def end(self, error: HeterodyneError) -> None:
        """It will not be read."""
        self._reading.discard(self)
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
