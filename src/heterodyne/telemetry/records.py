"""Writes request records in batches, off the request's path.

Records queue in memory, bounded; a thread encodes and writes them a few times a second. When the disk cannot keep
up the newest are dropped and counted, never the requests delayed.
"""

import sys
import threading
from collections import deque
from pathlib import Path
from typing import BinaryIO

import msgspec

from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.record_line import record_line
from heterodyne.telemetry.settings import TelemetrySettings

QUEUE_MAX = 65536
FLUSH_INTERVAL_S = 0.25

_log = log.get("telemetry")
_encoder = msgspec.json.Encoder()


class RecordWriter:
    """The sink the settings ask for: the log, a file, or nothing."""

    def __init__(self, settings: TelemetrySettings) -> None:
        self._queue: deque[RequestRecord] = deque()
        self._closing = threading.Event()
        self._bytes_max = settings.records_bytes_max
        self._path = None if settings.records in ("log", "off") else Path(settings.records)
        self._is_off = settings.records == "off"
        self._is_text = settings.records == "log" and log.is_text(settings)
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)
        self._thread.start()

    def write(self, record: RequestRecord) -> None:
        """Queue one record; never blocks."""
        if self._is_off:
            return
        if len(self._queue) >= QUEUE_MAX:
            metrics.records_dropped.add()
            return
        self._queue.append(record)

    def close(self) -> None:
        """Write what is queued and stop."""
        self._closing.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._closing.wait(FLUSH_INTERVAL_S):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        queue = self._queue
        records = [queue.popleft() for _ in range(len(queue))]
        if not records:
            return
        if self._is_text:
            lines = "".join(record_line(record) + "\n" for record in records).encode()
        else:
            lines = _encoder.encode_lines(records)
        try:
            if self._path is None:
                sys.stderr.buffer.write(lines)
                sys.stderr.buffer.flush()
            else:
                with self._open(self._path) as file:
                    file.write(lines)
        except OSError as error:
            _log.error("records_not_written", error=str(error), records=len(records))

    def _open(self, path: Path) -> BinaryIO:
        if path.exists() and path.stat().st_size > self._bytes_max:
            path.replace(path.with_name(path.name + ".1"))
        return path.open("ab")
