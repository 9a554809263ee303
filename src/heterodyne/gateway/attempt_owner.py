"""Who an attempt is made for, and is told what becomes of it."""

from typing import Protocol, TypeVar

from heterodyne.domain.errors import EngineError, HeterodyneError
from heterodyne.gateway.relay import StreamRelay

A = TypeVar("A", contravariant=True)  # the attempt


class AttemptOwner(Protocol[A]):
    """The exchange that an attempt is made for."""

    def attempt_streams(self, attempt: A) -> StreamRelay | None:
        """A good stream has begun; whoever returned takes it from here, None: it is to be read whole."""
        ...

    def attempt_begins(self, attempt: A) -> None:
        """The first event of its stream is about to be written."""
        ...

    def attempt_completed(self, attempt: A) -> None:
        """Its stream is complete."""
        ...

    def attempt_answered(self, attempt: A, pieces: list[bytes]) -> None:
        """A whole answer, good or bad, has come."""
        ...

    def attempt_unsent(self, attempt: A, error: HeterodyneError) -> None:
        """The request cannot be said in the words of the replica's engine."""
        ...

    def attempt_failed(self, attempt: A, error: EngineError) -> None:
        """There will be no answer from this one."""
        ...

    def attempt_stopped(self, attempt: A, error: HeterodyneError | None) -> None:
        """A policy has ended its stream; with an error nothing of it was sent."""
        ...
