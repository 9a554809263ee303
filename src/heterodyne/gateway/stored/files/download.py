"""A file on its way to a client: a piece is read when the client has taken the one before it."""

from typing import Final

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import HeterodyneError, StoreUnavailable
from heterodyne.gateway.stored.sending import SendingTask
from heterodyne.ports.file_contents import FileContents
from heterodyne.telemetry import log
from heterodyne.wire.server_connection import ServerConnection

PIECE_BYTES: Final = 524288  # written to the socket at once
READ_TIMEOUT_S: Final = 30.0  # for one piece

_log = log.get("gateway")


class Download(SendingTask):
    """The rest of one answer, whose head says how long it is."""

    def __init__(self, contents: FileContents, id: str, size_bytes: int, first: bytes) -> None:
        super().__init__()
        self._contents = contents
        self._id = id
        self.size_bytes = size_bytes
        self._piece = first

    async def _send(self, connection: ServerConnection) -> None:
        sent = 0
        try:
            while True:
                connection.write(self._piece)
                sent += len(self._piece)
                if sent >= self.size_bytes:
                    break
                await self._is_taken.wait()  # for how long is the connection's to say
                self._piece = await self._read(sent)
            connection.finish()
        except Exception as error:  # noqa: BLE001  # the root of an answer: a part of a file must not look like all
            is_known = isinstance(error, HeterodyneError | TimeoutError)
            _log.error("download_failed", file=self._id, error=str(error), exc_info=None if is_known else error)
            connection.abort()

    async def _read(self, start: int) -> bytes:
        async with deadline(READ_TIMEOUT_S):
            piece = await self._contents.read(self._id, start, min(PIECE_BYTES, self.size_bytes - start))
        if not piece:
            raise StoreUnavailable("The rest of the file is not there any more.")
        return piece
