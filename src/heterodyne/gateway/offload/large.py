"""What a worker has of a large request: the prompt as far as it is compared, and a call that is yet to be made."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request
from heterodyne.gateway.offload.job import CallMade, JobFailed, MakeCall, Result, error_of, fields_of
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_request import EngineRequest

if TYPE_CHECKING:
    from heterodyne.gateway.offload.process import Offload, PendingJob


class ReadPrompt:
    """The prompt of a large request."""

    __slots__ = ("_opening", "_whole", "whole_bytes")

    def __init__(self, whole: bytes, opening: bytes, whole_bytes: int) -> None:
        self._whole = whole
        self._opening = opening
        self.whole_bytes = whole_bytes

    def whole(self) -> bytes:
        """Its beginning; more is not compared."""
        return self._whole

    def opening(self) -> bytes:
        return self._opening


class LargeCall:
    """A call whose body is made beside the worker, once for every attempt."""

    __slots__ = ("_delivered_text", "_job", "_offload", "_owner", "_replica", "_request")

    def __init__(
        self,
        offload: "Offload",
        request: Request,
        replica: Replica,
        owner: bytes,
        delivered_text: DeliveredText | None = None,
    ) -> None:
        self._offload = offload
        self._request = request
        self._replica = replica
        self._owner = owner
        self._delivered_text = delivered_text
        self._job: PendingJob | None = None

    def make(self, when_made: Callable[[EngineRequest | HeterodyneError], None]) -> None:
        """Have it made; `when_made` is told the call, or why there is none."""
        delivered_text = self._delivered_text
        job = MakeCall(
            request=fields_of(self._request),
            replica=self._replica,
            said_text=None if delivered_text is None else delivered_text.text,
            said_tokens=0 if delivered_text is None else delivered_text.tokens,
        )

        def done(result: Result, made: bytes) -> None:
            self._job = None
            if isinstance(result, JobFailed):
                when_made(error_of(result))
                return
            assert isinstance(result, CallMade)
            body = self._request.body if result.is_same else made
            when_made(EngineRequest(result.path, body, result.not_carried, result.media_type))

        self._job = self._offload.submit(job, (self._request.body,), self._owner, done)

    def cancel(self) -> None:
        """Nobody wants it any more."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
