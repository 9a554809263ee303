"""Where finished requests are written down."""

from typing import Protocol

from heterodyne.domain.record import RequestRecord


class RecordSink(Protocol):
    """Must return at once; writing happens off the request's path."""

    def write(self, record: RequestRecord) -> None: ...
