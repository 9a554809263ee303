"""A request that is not admitted before guards elsewhere have judged it: the turn of its connection."""

import asyncio
from collections.abc import Callable

from heterodyne.domain.errors import ClientGone, DeadlineExceeded, HeterodyneError
from heterodyne.safety.remote.looks import PendingLook


class RemoteWait:
    """One of them, until its verdict or its end comes; exactly one of the two is told."""

    __slots__ = ("_among", "_done", "_refused", "_timer", "look")

    def __init__(
        self,
        among: "set[RemoteWait]",
        wait_s: float,
        *,
        done: Callable[[], None],
        refused: Callable[[HeterodyneError], None],
    ) -> None:
        self._among = among
        self._done = done
        self._refused = refused
        self.look: PendingLook | None = None
        among.add(self)
        late = DeadlineExceeded("The deadline passed before the request was judged.")
        self._timer = asyncio.get_running_loop().call_later(max(0.0, wait_s), self.end, late)

    def go_on(self) -> None:
        """Nothing was found."""
        if self._leave():
            self._done()

    def end(self, error: HeterodyneError) -> None:
        """It is not admitted."""
        if self._leave():
            if self.look is not None:
                self.look.cancel()
            self._refused(error)

    # Called by the client connection.

    def client_gone(self) -> None:
        self.end(ClientGone("The client left before its request was judged."))

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""

    def _leave(self) -> bool:
        """Whether it was still waiting."""
        if self not in self._among:
            return False
        self._among.discard(self)
        self._timer.cancel()
        return True
