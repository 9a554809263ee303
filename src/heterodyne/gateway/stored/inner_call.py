"""A request of the gateway to itself, in the name of a caller who has its key checked as any other."""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from heterodyne.wire.inner_transport import InnerTransport
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import Handler, ServerConnection, ServerLedger

STORED_ID: Final = b":stored-id"  # no header of a client's has a colon in its name
HEAD_BYTES_MAX: Final = 65536


class InnerAnswer(NamedTuple):
    """Status and body; status 0: it was cut off."""

    status: int
    body: bytes


class InnerCall:
    """One of them; begun when it is made."""

    def __init__(
        self,
        connect: Callable[[], ServerConnection],
        handler: Handler,
        ledger: ServerLedger,
        http: HttpRequest,
        *,
        stored_id: str,
        answer_bytes_max: int,
    ) -> None:
        connection = connect()
        self._transport = InnerTransport(connection, answer_bytes_max + HEAD_BYTES_MAX)
        connection.connection_made(self._transport)
        asked = HttpRequest(
            method=http.method,
            path=http.path,
            query=http.query,
            headers={**http.headers, STORED_ID: stored_id.encode()},
            keep_alive=False,
            speaks_chunked=True,
        )
        asked.head_check = handler.check_head(asked, connection)
        asked.body = http.body
        ledger.body_bytes += len(asked.body)
        connection.on_request(asked)

    async def is_done_within(self, seconds: float) -> bool:
        """Wait for so long at most."""
        done, _ = await asyncio.wait([self._transport.answer], timeout=seconds)
        return bool(done)

    def answer(self) -> InnerAnswer:
        """Once it is there."""
        head, _, body = self._transport.answer.result().partition(b"\r\n\r\n")
        return InnerAnswer(int(head[9:12]) if head else 0, body)

    def abort(self) -> None:
        """Its answer is no longer wanted: the engine that works on it is stopped."""
        self._transport.abort()
