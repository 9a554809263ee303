"""Events on their way to a client who may leave, and come back for the rest."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from heterodyne.domain.errors import HeterodyneError
from heterodyne.gateway.stored.event_log import SomeEvents, error_event, sse
from heterodyne.gateway.stored.sending import SendingTask
from heterodyne.telemetry import log
from heterodyne.wire.server_connection import ServerConnection

COMMENT: Final = b": waiting\n\n"
LEFT_OUT: Final = b": events %d to %d are not kept\n\n"
COMMENT_S: Final = 15.0  # without events, until a comment keeps the connection open

_log = log.get("gateway")


class FollowedStream(SendingTask):
    """One answer, which ends with its source."""

    def __init__(self, source: AsyncIterator[SomeEvents], after: int) -> None:
        super().__init__()
        self._source = source
        self._number = after + 1  # of the next event

    async def _send(self, connection: ServerConnection) -> None:
        try:
            await self._send_all(connection)
        except HeterodyneError as error:
            connection.write_payload(sse(error_event(error.code, error.message, self._number)))
        except Exception as error:  # noqa: BLE001  # the root of an answer: a part of it must not look like all
            _log.error("follow_failed", exc_info=error)
            connection.abort()
            return
        connection.finish_stream()

    async def _send_all(self, connection: ServerConnection) -> None:
        clock = asyncio.get_running_loop().time
        told_s = clock()
        async for first, events in self._source:
            await self._is_taken.wait()  # for how long is the connection's to say
            now_s = clock()
            if first > self._number:
                connection.write_payload(LEFT_OUT % (self._number, first - 1))
                self._number = first
            if events:
                connection.write_payload(b"".join(map(sse, events)))
                self._number += len(events)
            elif now_s - told_s >= COMMENT_S:
                connection.write_payload(COMMENT)
            else:
                continue
            told_s = now_s
