"""Writes request records in batches, off the request's path.

Records become lines when they are taken, a few at a time: a thread that encoded thousands would keep the loop waiting
as long. The lines queue in memory, bounded, and a thread writes them a few times a second. When the disk cannot keep
up, or takes nothing, the newest are dropped and counted, never the requests delayed.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

import msgspec

from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.telemetry.trouble import Trouble

QUEUE_MAX = 65536  # records
FLUSH_INTERVAL_S = 0.25

_log = log.get("telemetry")
_encoder = msgspec.json.Encoder()


class RecordWriter:
    """The sink the settings ask for: the log, a file, or nothing."""

    def __init__(self, settings: TelemetrySettings) -> None:
        self._queue: deque[tuple[bytes, int]] = deque()  # lines, and of how many records
        self._taken = 0  # records that were queued; the thread does not write it
        self._gone = 0  # records that left the queue; only the thread writes it
        self._closing = threading.Event()
        self._bytes_max = settings.records_bytes_max
        self._path = None if settings.records in ("log", "off") else Path(settings.records)
        self.is_off = settings.records == "off"
        self._is_text = settings.records == "log" and log.is_text(settings)
        self._trouble = Trouble(_log, "records_not_written", sink=settings.records)
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)
        self._thread.start()

    def write(self, records: Sequence[RequestRecord]) -> None:
        """Queue them; never blocks."""
        if self.is_off:
            return
        if self._taken - self._gone >= QUEUE_MAX:
            metrics.records_dropped.add((), len(records))
            return
        if self._is_text:
            lines = "".join(record_line(record) + "\n" for record in records).encode()
        else:
            lines = _encoder.encode_lines(records)
        self._taken += len(records)
        self._queue.append((lines, len(records)))

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
        blocks = [queue.popleft() for _ in range(len(queue))]
        if not blocks:
            return
        lines, records = b"".join(block for block, _ in blocks), sum(records for _, records in blocks)
        try:
            if self._path is None:
                sys.stderr.buffer.write(lines)
                sys.stderr.buffer.flush()
            else:
                self._append(self._path, lines)
        except OSError as error:
            metrics.writes_failed.add(("records",))
            self._trouble.failed(error)
            queue.extendleft(reversed(blocks))
            return
        except Exception as error:  # noqa: BLE001  # the root of the thread: what cannot be written ever is lost
            metrics.records_dropped.add((), records)
            self._trouble.failed(error, is_ours=True)
        else:
            self._trouble.worked()
        self._gone += records

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
