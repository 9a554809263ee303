"""A response that runs in the background as a stream: its events are heard, logged for followers, and written down."""

from typing import Final

from heterodyne.domain.errors import HeterodyneError
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.event_blocks import keep_events
from heterodyne.gateway.stored.event_log import EventLog, data_of, response_in, type_of
from heterodyne.gateway.stored.inner_call import InnerAnswer
from heterodyne.ports.document_store import Document
from heterodyne.telemetry import log as logs

EVENTS_TYPE: Final = b"\r\ncontent-type: text/event-stream"
FAILED: Final = b"response.failed"

_log = logs.get("gateway")


class BackgroundStream:
    """One of them, on the worker that runs it."""

    def __init__(self, documents: Documents, document: Document, log: EventLog) -> None:
        self._documents = documents
        self._document = document
        self.log = log
        self._status = 0  # of the answer, once its head has come
        self._is_stream = False
        self._rest = b""  # of the bytes that have come, those that are no whole event yet
        self._failed = b""  # the response, where it has
        self._kept = 0  # the number of the next that the store is to have
        self._tried = 0  # of the next after those that it may have: their block was sent to it

    def heard(self, piece: bytes) -> None:
        """More of the answer, head and all."""
        self._rest += piece
        if not self._status:
            head, end, rest = self._rest.partition(b"\r\n\r\n")
            if not end:
                return
            self._status, self._rest = int(head[9:12]), rest
            self._is_stream = EVENTS_TYPE in head
        if self._is_stream:
            *events, self._rest = self._rest.split(b"\n\n")
            for data in filter(None, map(data_of, events)):
                if type_of(data) == FAILED:
                    self._failed = response_in(data)  # told once the store knows it
                else:
                    self.log.add(data)

    def answer(self) -> InnerAnswer:
        """How it ended that did not tell its end: what came in the place of a stream, or why that broke off."""
        if self._is_stream:
            return InnerAnswer(200, self._failed) if self._failed else InnerAnswer(0, b"")
        return InnerAnswer(self._status, self._rest)

    def drop(self) -> None:
        """Nothing more of it is written down: it was deleted."""
        self._kept = self._tried = self.log.end

    async def keep(self) -> bool:
        """Write down what has come since; False: the store is away, and it is to be tried again."""
        log = self.log
        while (end := self._next_end()) > self._kept:
            self._tried = end
            try:
                await keep_events(self._documents, self._document, self._kept, log.some(self._kept, end))
            except HeterodyneError as error:
                _log.warning("events_not_kept", response=self._document.id, reason=error.message)
                break
            self._kept = end
        log.trim(self._kept)
        self._kept = max(self._kept, log.first)
        return self._kept == log.end

    def _next_end(self) -> int:
        """Behind the next block. Of more events than are kept, the last is."""
        log = self.log
        if self._tried > self._kept:
            return self._tried  # a block that the store may have is sent again as it was
        if log.kept_end is None or self._kept < log.kept_end:
            return log.end if log.kept_end is None else log.kept_end
        self._kept = max(self._kept, log.end - log.is_ended)
        return log.end
