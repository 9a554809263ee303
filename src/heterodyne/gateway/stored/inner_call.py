"""A request of the gateway to itself, in the name of a caller who has its key checked as any other."""

import asyncio
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from heterodyne.wire.inner_transport import InnerTransport
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import Handler, ServerConnection, ServerLedger

# No header of a client's has a colon in its name.
STORED_ID: Final = b":stored-id"  # what its answer is to be kept by
KEY_ID: Final = b":key-id"  # whose it is, where the key itself is not known any more
REGIONS: Final = b":regions"  # the only ones that may answer it, a line each, whatever its key may
KEPT_IN_FILE: Final = b":kept-in-file"  # its answer is a line of a batch
HEAD_BYTES_MAX: Final = 65536


class InnerAnswer(NamedTuple):
    """Status and body; status 0: it was cut off."""

    status: int
    body: bytes
    request_id: str = ""
    retry_after_s: int | None = None


REQUEST_ID: Final = re.compile(rb"\r\nx-request-id: ([^\r]*)")
RETRY_AFTER: Final = re.compile(rb"\r\nretry-after: (\d{1,9})\r")


class InnerCall:
    """One of them, begun when it is made; its request is its own and keeps no connection.

    `ended` hears of the answer in the moment that it ends, before the books do; `heard` of its bytes as they come, head
    and all, and then there is no answer to ask for.
    """

    def __init__(
        self,
        connect: Callable[[], ServerConnection],
        handler: Handler,
        ledger: ServerLedger,
        http: HttpRequest,
        *,
        answer_bytes_max: int,
        ended: Callable[[InnerAnswer], None] | None = None,
        heard: Callable[[bytes], None] | None = None,
    ) -> None:
        connection = connect()
        told = None if ended is None else lambda answer: ended(_read(answer))
        self._transport = InnerTransport(connection, answer_bytes_max + HEAD_BYTES_MAX, told, heard)
        connection.connection_made(self._transport)
        http.head_check = handler.check_head(http, connection)
        ledger.body_bytes += len(http.body)
        connection.on_request(http)

    async def is_done_within(self, seconds: float) -> bool:
        """Wait for so long at most."""
        done, _ = await asyncio.wait([self._transport.answer], timeout=seconds)
        return bool(done)

    def answer(self) -> InnerAnswer:
        """Once it is there."""
        return _read(self._transport.answer.result())

    def abort(self) -> None:
        """Its answer is no longer wanted: the engine that works on it is stopped."""
        self._transport.abort()


def _read(answer: bytes) -> InnerAnswer:
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head:
        return InnerAnswer(0, b"")
    named, later = REQUEST_ID.search(head), RETRY_AFTER.search(head + b"\r\n")
    return InnerAnswer(
        int(head[9:12]),
        body,
        "" if named is None else named[1].decode("ascii", "replace"),
        None if later is None else int(later[1]),
    )
