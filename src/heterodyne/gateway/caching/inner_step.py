"""A request that waits for one of the gateway's own to itself: each answers its connection until that has ended."""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from heterodyne.domain.errors import ClientGone, HeterodyneError
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.stored.inner_call import KEY_ID, InnerAnswer, InnerCall
from heterodyne.wire.message import HttpRequest

Ask = Callable[[HttpRequest, Callable[[InnerAnswer], None]], InnerCall]

LEFT: Final = "The client left before its prompt was looked up."
_encode = msgspec.json.Encoder().encode


def inner_post(path: bytes, body: object, caller: Caller, *, wait_s: float, headers: dict[bytes, bytes]) -> HttpRequest:
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
    http.body = _encode(body)
    return http


class InnerStep:
    """One that waits. Whatever comes of it, the request goes on when the time is over."""

    __slots__ = ("_call", "_done", "_refused", "_timer")

    def __init__(
        self,
        ask: Ask,
        http: HttpRequest,
        wait_s: float,
        *,
        done: Callable[[InnerAnswer | None], None],
        refused: Callable[[HeterodyneError], None],
    ) -> None:
        """`done` hears the answer, or that there is none in time; where the client leaves, `refused` hears it."""
        self._done: Callable[[InnerAnswer | None], None] | None = done
        self._refused = refused
        self._call: InnerCall | None = None
        self._timer = asyncio.get_running_loop().call_later(max(0.0, wait_s), self._end, None)
        call = ask(http, self._answered)
        if self._done is not None:
            self._call = call

    def _answered(self, answer: InnerAnswer) -> None:
        """Not at once: whoever has begun this may not have told the connection whose turn it is."""
        self._timer.cancel()
        if self._done is not None:
            self._timer = asyncio.get_running_loop().call_later(0, self._end, answer)

    def _end(self, answer: InnerAnswer | None) -> None:
        done, self._done = self._done, None
        self._abort()
        if done is not None:
            done(answer)

    def _abort(self) -> None:
        call, self._call = self._call, None
        if call is not None:
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
