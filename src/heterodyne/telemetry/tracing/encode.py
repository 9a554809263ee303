"""Spans as OTLP messages. The only file that needs `heterodyne[otel]`."""

from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1 import trace_pb2

from heterodyne.telemetry.tracing.span import Attribute, Span, SpanKind

SCOPE = "heterodyne"
_SAMPLED, _KNOWS_REMOTE, _IS_REMOTE = 0x001, 0x100, 0x200  # flags of a span and of its parent
_KINDS = {
    SpanKind.INTERNAL: trace_pb2.Span.SPAN_KIND_INTERNAL,
    SpanKind.SERVER: trace_pb2.Span.SPAN_KIND_SERVER,
    SpanKind.CLIENT: trace_pb2.Span.SPAN_KIND_CLIENT,
}
_INT_MAX = 2**63 - 1
_ERROR = trace_pb2.Status.STATUS_CODE_ERROR


def encode(spans: Iterable[Span], resource: Mapping[str, str], version: str) -> bytes:
    """One export request; `resource` says who sends it."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    _add_attributes(group.resource.attributes, resource)
    scope = group.scope_spans.add()
    scope.scope.name, scope.scope.version = SCOPE, version
    for span in spans:
        _fill(scope.spans.add(), span)
    return bytes(request.SerializeToString())


def rejected_spans(answer: bytes) -> int:
    """How many spans of a request the collector did not take, though it took the request."""
    return int(ExportTraceServiceResponse.FromString(answer).partial_success.rejected_spans)


def _fill(message: trace_pb2.Span, span: Span) -> None:
    trace_id = span.trace_id.to_bytes(16, "big")
    message.name, message.kind = _text(span.name), _KINDS[span.kind]
    message.trace_id, message.span_id = trace_id, span.span_id.to_bytes(8, "big")
    message.trace_state = span.state
    message.flags = _SAMPLED | _KNOWS_REMOTE | (_IS_REMOTE if span.is_parent_remote else 0)
    if span.parent_id:
        message.parent_span_id = span.parent_id.to_bytes(8, "big")
    message.start_time_unix_nano, message.end_time_unix_nano = span.start_ns, span.end_ns
    _add_attributes(message.attributes, span.attributes)
    for event in span.events:
        encoded = message.events.add()
        encoded.name, encoded.time_unix_nano = event.name, event.at_ns
        _add_attributes(encoded.attributes, event.attributes)
    for other_id in span.links:
        link = message.links.add()
        link.trace_id, link.span_id = trace_id, other_id.to_bytes(8, "big")
    if span.error:
        message.status.code, message.status.message = _ERROR, span.error


def _add_attributes(pairs: Any, attributes: Mapping[str, Attribute]) -> None:
    """`pairs` is a container of protobuf's, whose type is its own."""
    for name, value in attributes.items():
        pair = pairs.add()
        pair.key = name
        if isinstance(value, str):
            pair.value.string_value = _text(value)
        elif isinstance(value, bool):
            pair.value.bool_value = value
        elif isinstance(value, int):
            pair.value.int_value = max(-_INT_MAX, min(value, _INT_MAX))
        else:
            pair.value.double_value = value


def _text(value: str) -> str:
    """JSON may say half a character, and protobuf takes none."""
    return value if value.isascii() else value.encode(errors="replace").decode()
