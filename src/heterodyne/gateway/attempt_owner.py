"""Who an attempt is made for, and is told what becomes of it."""

from typing import Protocol, TypeVar

from heterodyne.domain.errors import EngineError, HeterodyneError
from heterodyne.gateway.relay import StreamRelay

AttemptT_contra = TypeVar("AttemptT_contra", contravariant=True)  # the attempt


class AttemptOwner(Protocol[AttemptT_contra]):
    """The exchange that an attempt is made for."""

    def attempt_streams(self, attempt: AttemptT_contra) -> StreamRelay | None:
        """AttemptT_contra good stream has begun; whoever returned takes it from here, None: it is to be read whole."""
        ...

    def attempt_begins(self, attempt: AttemptT_contra) -> None:
        """The first event of its stream is about to be written."""
        ...

    def attempt_completed(self, attempt: AttemptT_contra) -> None:
        """Its stream is complete."""
        ...

    def attempt_answered(self, attempt: AttemptT_contra, pieces: list[bytes]) -> None:
        """AttemptT_contra whole answer, good or bad, has come."""
        ...

    def attempt_unsent(self, attempt: AttemptT_contra, error: HeterodyneError) -> None:
        """The request cannot be said in the words of the replica's engine."""
        ...

    def attempt_failed(self, attempt: AttemptT_contra, error: EngineError) -> None:
        """There will be no answer from this one."""
        ...

    def attempt_stopped(self, attempt: AttemptT_contra, error: HeterodyneError | None) -> None:
        """AttemptT_contra policy has ended its stream; with an error nothing of it was sent."""
        ...
