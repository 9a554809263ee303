"""Writes request records in batches, off the request's path.

Records queue in memory, bounded; a thread encodes and writes them a few times a second. When the disk cannot keep
up, or takes nothing, the newest are dropped and counted, never the requests delayed.
"""

import os
import sys
import threading
from collections import deque
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

import msgspec

from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.telemetry.trouble import Trouble

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
        self.is_off = settings.records == "off"
        self._is_text = settings.records == "log" and log.is_text(settings)
        self._trouble = Trouble(_log, "records_not_written", sink=settings.records)
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)
        self._thread.start()

    def write(self, record: RequestRecord) -> None:
        """Queue one record; never blocks."""
        if self.is_off:
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
        """What the disk does not take waits for the next time, as far as there is room to wait."""
        queue = self._queue
        records = [queue.popleft() for _ in range(len(queue))]
        if not records:
            return
        try:
            if self._is_text:
                lines = "".join(record_line(record) + "\n" for record in records).encode()
            else:
                lines = _encoder.encode_lines(records)
            if self._path is None:
                sys.stderr.buffer.write(lines)
                sys.stderr.buffer.flush()
            else:
                self._append(self._path, lines)
        except OSError as error:
            metrics.writes_failed.add(("records",))
            self._trouble.failed(error)
            queue.extendleft(reversed(records))
        except Exception as error:  # noqa: BLE001  # the root of the thread: records that cannot be encoded are lost
            metrics.records_dropped.add((), len(records))
            self._trouble.failed(error, is_ours=True)
        else:
            self._trouble.worked()

    def _append(self, path: Path, lines: bytes) -> None:
        """All of them or none, so that they can be written again."""
        rest = memoryview(lines)
        with self._open(path) as file:
            size_bytes = file.seek(0, os.SEEK_END)
            try:
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError:
                file.truncate(size_bytes)
                raise

    def _open(self, path: Path) -> FileIO:
        if path.exists() and path.stat().st_size > self._bytes_max:
            path.replace(path.with_name(path.name + ".1"))
        return path.open("ab", buffering=0)


def record_line(record: RequestRecord) -> str:
    """One finished request for people.

    `02:24:09 200 chat smollm2-135m on chat-0: 36 + 20 tokens, first after 121 ms, 1.2 s in all`
    """
    at = datetime.fromtimestamp(record.at, UTC).strftime("%H:%M:%S")
    asked = "" if record.model or not record.asked_model else repr(record.asked_model)
    what = " ".join(filter(None, (record.operation, record.model, asked)))
    where = f" on {record.replica}" if record.replica else ""
    facts = [record.reason] if record.reason else []
    if record.prompt_tokens or record.completion_tokens:
        about = "about " if record.is_estimated else ""
        facts.append(f"{about}{record.prompt_tokens} + {record.completion_tokens} tokens")
    if record.ttft_ms is not None and record.stream:
        facts.append(f"first after {_time(record.ttft_ms)}")
    if record.total_ms:
        facts.append(f"{_time(record.total_ms)} in all")
    return f"{at} {record.status} {what}{where}: {', '.join(facts)}"


def _time(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"
