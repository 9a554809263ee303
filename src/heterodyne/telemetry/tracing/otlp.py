"""Sends spans to a collector by OTLP over HTTP, in batches and in a thread of its own.

Spans queue in memory, bounded. What a collector cannot take now is sent again later; when there is no more room the
newest are dropped and counted, never the requests delayed.
"""

import threading
import time
from collections import deque
from collections.abc import Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.settings import INSTALL_OTEL
from heterodyne.telemetry.tracing.span import Span

QUEUE_MAX = 8192  # spans
BATCH_MAX = 512
INTERVAL_S, INTERVAL_MAX_S = 1.0, 30.0  # between batches, and while the collector does not answer
TIMEOUT_S = 4.0
CLOSE_TIMEOUT_S = 5.0
ANSWER_BYTES_MAX = 65536
BUSY = (429, 502, 503, 504)  # the collector may take the same batch later

FULL, UNREACHABLE, REJECTED = ("full",), ("unreachable",), ("rejected",)


_log = log.get("telemetry")


class OtlpExporter:
    """One per worker; spans may be added from one thread."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        resource: Mapping[str, str],
        version: str,
        interval_s: float = INTERVAL_S,
    ) -> None:
        try:
            from heterodyne.telemetry.tracing import encode  # noqa: PLC0415  # not part of the base install
        except ImportError as error:
            raise SettingsInvalid(f"telemetry.traces_url: OpenTelemetry is not installed; {INSTALL_OTEL}") from error
        self._encode = encode.encode
        self._rejected_spans = encode.rejected_spans
        self._url = url
        self._headers = {**headers, "content-type": "application/x-protobuf"}
        self._resource = resource
        self._version = version
        self._interval_s = interval_s
        self._opener = build_opener(_StayHere())
        self._queue: deque[Span] = deque()
        self._batch: list[Span] = []  # on its way, until the collector has taken it
        self._wake = threading.Event()  # a batch is full, or it is time to go
        self._is_closing = False
        self._is_answered = True  # the last time; one line in the log for each change
        self._thread = threading.Thread(target=self._run, name="traces", daemon=True)
        self._thread.start()

    def add(self, spans: tuple[Span, ...]) -> None:
        """Queue the spans of one request; never blocks."""
        if len(self._queue) + len(spans) > QUEUE_MAX:
            metrics.spans_dropped.add(FULL, len(spans))
            return
        self._queue.extend(spans)
        if len(self._queue) >= BATCH_MAX and self._is_answered:
            self._wake.set()

    def close(self) -> None:
        """Send what is queued and stop; what is not taken in time is lost."""
        self._is_closing = True
        self._wake.set()
        self._thread.join(CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        interval_s = self._interval_s
        while not self._is_closing:
            self._wake.wait(interval_s)
            self._wake.clear()
            interval_s = self._interval_s if self._is_closing or self._flush() else min(2 * interval_s, INTERVAL_MAX_S)
        if not self._flush(until_s=time.monotonic() + CLOSE_TIMEOUT_S - TIMEOUT_S):
            metrics.spans_dropped.add(UNREACHABLE, len(self._batch) + len(self._queue))

    def _flush(self, until_s: float = float("inf")) -> bool:
        """Whether everything that was queued has left."""
        queue = self._queue
        while self._batch or queue:
            if not self._batch:
                self._batch = [queue.popleft() for _ in range(min(len(queue), BATCH_MAX))]
            try:
                is_over = self._send(self._batch)
            except Exception as error:  # noqa: BLE001  # the root of a batch: our mistake must not cost others theirs
                _log.error("traces_failed", exc_info=error, spans=len(self._batch))
                metrics.spans_dropped.add(REJECTED, len(self._batch))
                is_over = True
            if not is_over:
                return False
            self._batch = []
            if time.monotonic() > until_s:
                return not queue
        return True

    def _send(self, batch: list[Span]) -> bool:
        """Whether it need not be sent again."""
        body = self._encode(batch, self._resource, self._version)
        request = Request(self._url, body, self._headers)  # noqa: S310  # http or https, as settings are checked
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                rejected = self._rejected_spans(answer.read(ANSWER_BYTES_MAX))
        except HTTPError as error:
            with error:
                self._note(f"HTTP {error.code}")
            if error.code in BUSY:
                return False
            metrics.spans_dropped.add(REJECTED, len(batch))
            return True
        except (OSError, HTTPException) as error:
            self._note(str(error) or type(error).__name__)
            return False
        except ValueError:  # a 200 that is no answer of OTLP's
            rejected = 0
        self._note("")
        metrics.spans_exported.add((), len(batch) - rejected)
        if rejected:
            metrics.spans_dropped.add(REJECTED, rejected)
        return True

    def _note(self, problem: str) -> None:
        """Say it when the collector stops answering, and when it answers again."""
        if problem and self._is_answered:
            _log.warning("traces_not_exported", url=self._url, error=problem, waiting=len(self._queue))
        elif not problem and not self._is_answered:
            _log.info("traces_exported_again", url=self._url)
        self._is_answered = not problem


class _StayHere(HTTPRedirectHandler):
    """Headers may be secrets, and are for the collector that the settings name."""

    def redirect_request(  # noqa: PLR0917  # as urllib calls it
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        return None
