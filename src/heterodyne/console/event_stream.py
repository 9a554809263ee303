"""Server-sent events: how one is written, and an answer made of them that ends as soon as its reader leaves."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from heterodyne.concurrency.deadline import deadline
from heterodyne.telemetry import log

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # proxies that know it pass events on as they come
}
SEND_TIMEOUT_S = 60.0  # for a reader that takes nothing
HEARTBEAT = b": still here\n\n"

_log = log.get("console")


def event(name: str, data: bytes, id: int | None = None) -> bytes:
    """One event; the data is a single line."""
    identity = b"" if id is None else b"id: %d\n" % id
    return b"event: %b\n%bdata: %b\n\n" % (name.encode(), identity, data)


class EventStream(Response):
    """The pieces as they come. When the reader leaves, what makes the pieces is cancelled, wherever it waits."""

    def __init__(self, pieces: AsyncGenerator[bytes, None]) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(self._send(send))
            watching = group.create_task(_wait_left(receive))
            await asyncio.wait((sending, watching), return_when=asyncio.FIRST_COMPLETED)
            sending.cancel()
            watching.cancel()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with aclosing(self._pieces) as pieces:
                async for piece in pieces:
                    async with deadline(SEND_TIMEOUT_S):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            _log.info("reader_takes_nothing", waited_s=SEND_TIMEOUT_S)
            return  # the server closes what is not complete
        except Exception as error:  # noqa: BLE001  # the root of a stream
            _log.error("stream_failed", exc_info=error)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
