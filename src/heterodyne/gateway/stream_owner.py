"""Whom a relay tells what has become of its stream."""

from typing import Protocol

from heterodyne.domain.errors import EngineError, HeterodyneError
from heterodyne.gateway.offload.process import PendingWork


class StreamOwner(Protocol):
    """The attempt a stream belongs to."""

    @property
    def is_over(self) -> bool:
        """Whether nobody wants the stream any more."""
        ...

    def pause(self) -> None:
        """Do not read on."""
        ...

    def resume(self) -> None: ...
    def stream_begins(self) -> None:
        """The first event is about to be written; once more with the first token, where that comes later."""
        ...

    def stream_complete(self) -> None: ...
    def stream_broken(self, error: EngineError) -> None: ...

    def stream_stopped(self, error: HeterodyneError | None) -> None:
        """A policy has ended it; with an error nothing of it was sent."""
        ...

    def wait_for(self, work: PendingWork) -> None:
        """Some or all of it has come, and is being judged."""
        ...
