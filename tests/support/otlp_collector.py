"""An OTLP collector: a real HTTP server on loopback that decodes the spans it is sent, in a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1 import trace_pb2

SERVER, CLIENT = trace_pb2.Span.SPAN_KIND_SERVER, trace_pb2.Span.SPAN_KIND_CLIENT
ERROR, UNSET = trace_pb2.Status.STATUS_CODE_ERROR, trace_pb2.Status.STATUS_CODE_UNSET


class SpanSeen(NamedTuple):
    """One span, as it was received."""

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    state: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    links: list[str]
    status: int


class Collector:
    """What it was sent, and how it answers."""

    def __init__(self) -> None:
        self.answers: list[int] = []  # statuses of the next answers; 200 when there are none left
        self.rejects = 0  # spans of every request that it says it did not take
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []  # of requests that it took
        self.arrived = threading.Condition()
        self.url = ""

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        """The status and body of an answer."""
        with self.arrived:
            status = self.answers.pop(0) if self.answers else 200
            self.paths.append(path)
            self.headers.append(headers)
            if status == 200:
                self.bodies.append(body)
            self.arrived.notify_all()
        answer = ExportTraceServiceResponse()
        answer.partial_success.rejected_spans = self.rejects
        return status, answer.SerializeToString()

    def wait_requests(self, count: int, timeout_s: float = 10.0) -> None:
        """Until so many have come, taken or not."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.paths) >= count, timeout_s), (
                f"{len(self.paths)} requests came"
            )

    @property
    def resource(self) -> dict[str, Any]:
        """Who sent the first request."""
        return _attributes(ExportTraceServiceRequest.FromString(self.bodies[0]).resource_spans[0].resource.attributes)

    @property
    def spans(self) -> list[SpanSeen]:
        """Everything that was taken, in its order."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            _seen(span)
            for request in requests
            for group in request.resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]

    @property
    def traces(self) -> list[list[SpanSeen]]:
        """Spans of the same trace together, the request itself first."""
        traces: dict[str, list[SpanSeen]] = {}
        for span in self.spans:
            traces.setdefault(span.trace_id, []).append(span)
        return list(traces.values())


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens inside the block."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, answer = collector.take(self.path, headers, body)
            self.send_response(status)
            if status in (301, 302, 307, 308):
                self.send_header("location", f"{collector.url}/elsewhere")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Tests have their own output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def _seen(span: trace_pb2.Span) -> SpanSeen:
    return SpanSeen(
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.trace_state,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        _attributes(span.attributes),
        [(event.name, _attributes(event.attributes)) for event in span.events],
        [link.span_id.hex() for link in span.links],
        span.status.code,
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
