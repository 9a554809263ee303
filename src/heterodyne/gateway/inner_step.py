"""A request that waits for others of the gateway to itself: it has the turn of its connection until they have ended."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from heterodyne.domain.errors import ClientGone, HeterodyneError
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.stored.inner_call import KEY_ID, InnerAnswer, InnerCall
from heterodyne.wire.message import HttpRequest

Ask = Callable[[HttpRequest, Callable[[InnerAnswer], None]], InnerCall]
Answers = tuple[InnerAnswer | None, ...]

LEFT: Final = "The client left while another model was asked for it."


def inner_post(path: bytes, body: bytes, caller: Caller, *, wait_s: float, headers: dict[bytes, bytes]) -> HttpRequest:
    """A request in the name of a caller, booked to it."""
    http = HttpRequest(
        method=b"POST",
        path=path,
        query=b"",
        headers={
            b"host": b"localhost",
            b"content-type": b"application/json",
            b"x-heterodyne-deadline-ms": b"%d" % max(1, round(wait_s * 1000)),
            KEY_ID: caller.key.encode(),
            **headers,
        },
        keep_alive=False,
        speaks_chunked=True,
    )
    http.body = body
    return http


class InnerStep:
    """One that waits. Whatever comes of it, the request goes on when the time is over."""

    __slots__ = ("_answers", "_calls", "_done", "_left", "_refused", "_timer")

    def __init__(
        self,
        ask: Ask,
        posts: Sequence[HttpRequest],
        wait_s: float,
        *,
        done: Callable[[Answers], None],
        refused: Callable[[HeterodyneError], None],
    ) -> None:
        """`done` hears the answers, without those that were late; where the client leaves, `refused` does."""
        self._done: Callable[[Answers], None] | None = done
        self._refused = refused
        self._answers: list[InnerAnswer | None] = [None] * len(posts)
        self._left = len(posts)
        self._calls: list[InnerCall] = []
        self._timer = asyncio.get_running_loop().call_later(max(0.0, wait_s), self._end)
        self._calls = [ask(http, partial(self._answered, place)) for place, http in enumerate(posts)]

    def _answered(self, place: int, answer: InnerAnswer) -> None:
        """The last of them ends it, and not at once: the connection may not have been told yet whose turn it is."""
        self._answers[place] = answer
        self._left -= 1
        if not self._left and self._done is not None:
            self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(0, self._end)

    def _end(self) -> None:
        done, self._done = self._done, None
        self._abort()
        if done is not None:
            done(tuple(self._answers))

    def _abort(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call.abort()

    # Called by the client connection.

    def client_gone(self) -> None:
        self._timer.cancel()
        if self._done is not None:
            self._done = None
            self._abort()
            self._refused(ClientGone(LEFT))

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""
