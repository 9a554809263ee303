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
        self._kept = 0  # events that are in the store
        self._tried = 0  # those that may be: their block was sent to it

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
        self._kept = self._tried = len(self.log.events)

    async def keep(self) -> bool:
        """Write down what has come since; False: the store is away, and it is to be tried again."""
        events = self.log.events
        # A block that the store may have is sent again as it was.
        end = self._tried if self._tried > self._kept else len(events)
        if end > self._kept:
            self._tried = end
            try:
                await keep_events(self._documents, self._document, self._kept, events[self._kept : end])
            except HeterodyneError as error:
                _log.warning("events_not_kept", response=self._document.id, reason=error.message)
                return False
            self._kept = end
        return self._kept == len(events)
