"""What we answer a proxy with, message by message."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from envoy.config.core.v3 import base_pb2
from envoy.service.ext_proc.v3 import external_processor_pb2 as ext_proc
from envoy.type.v3 import http_status_pb2
from google.protobuf import struct_pb2

from heterodyne.domain.errors import (
    EnginesFull,
    HeterodyneError,
    NoSpareCapacity,
    NotInTime,
    Overloaded,
    QueueFull,
    Shed,
)
from heterodyne.endpoint_picker.protocol import DESTINATION, DESTINATION_NAMESPACE
from heterodyne.gateway import render
from heterodyne.gateway.forms.form import ClientForm

PIECE_BYTES: Final = 62_000  # of a body that is sent on: proxies bound a piece at 64 KiB
# Refused for how much there is to do; the protocol has one status for it.
DROPPED: Final = (Shed, QueueFull, NotInTime, NoSpareCapacity, Overloaded, EnginesFull)
TOO_MANY: Final = 429
SET: Final = base_pb2.HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD

REQUEST_HEADERS: Final = ext_proc.ProcessingResponse(request_headers=ext_proc.HeadersResponse())
REQUEST_BODY: Final = ext_proc.ProcessingResponse(request_body=ext_proc.BodyResponse())
REQUEST_TRAILERS: Final = ext_proc.ProcessingResponse(request_trailers=ext_proc.TrailersResponse())
RESPONSE_HEADERS: Final = ext_proc.ProcessingResponse(response_headers=ext_proc.HeadersResponse())
RESPONSE_BODY: Final = ext_proc.ProcessingResponse(response_body=ext_proc.BodyResponse())
RESPONSE_TRAILERS: Final = ext_proc.ProcessingResponse(response_trailers=ext_proc.TrailersResponse())


def picked_in_headers(endpoint: str, headers: Iterable[tuple[str, bytes]], removed: Sequence[str]) -> Any:
    """Forward it there, said in answer to its headers."""
    common = ext_proc.CommonResponse(header_mutation=_mutation(endpoint, headers, removed), clear_route_cache=True)
    return ext_proc.ProcessingResponse(
        request_headers=ext_proc.HeadersResponse(response=common), dynamic_metadata=_metadata(endpoint)
    )


def picked_in_body(
    endpoint: str, headers: Iterable[tuple[str, bytes]], removed: Sequence[str], body: bytes | None
) -> Any:
    """The same, in answer to a body that was buffered; `body` where it is another now."""
    common = ext_proc.CommonResponse(header_mutation=_mutation(endpoint, headers, removed), clear_route_cache=True)
    if body is not None:
        common.body_mutation.body = body
    return ext_proc.ProcessingResponse(
        request_body=ext_proc.BodyResponse(response=common), dynamic_metadata=_metadata(endpoint)
    )


def request_pieces(body: bytes, *, ends_stream: bool) -> list[Any]:
    """A body that was taken piece by piece, sent on; its last piece ends it unless trailers follow."""
    starts = range(0, len(body), PIECE_BYTES) or (0,)
    return [
        ext_proc.ProcessingResponse(
            request_body=ext_proc.BodyResponse(
                response=_streamed(
                    body[start : start + PIECE_BYTES], ends=ends_stream and start + PIECE_BYTES >= len(body)
                )
            )
        )
        for start in starts
    ]


def response_piece(piece: bytes, *, ends_stream: bool) -> Any:
    """A piece of an answer, passed on."""
    return ext_proc.ProcessingResponse(response_body=ext_proc.BodyResponse(response=_streamed(piece, ends=ends_stream)))


def response_headers(headers: Iterable[tuple[str, bytes]]) -> Any:
    """Let the answer's head pass with these beside its own."""
    mutation = ext_proc.HeaderMutation(set_headers=[_option(name, value) for name, value in headers])
    return ext_proc.ProcessingResponse(
        response_headers=ext_proc.HeadersResponse(response=ext_proc.CommonResponse(header_mutation=mutation))
    )


def refused(error: HeterodyneError, form: ClientForm, request_id: str) -> Any:
    """The proxy answers with this error itself."""
    status = TOO_MANY if isinstance(error, DROPPED) else error.status
    headers = [*lines(render.error_headers(error)), ("x-heterodyne-request-id", request_id.encode())]
    return ext_proc.ProcessingResponse(
        immediate_response=ext_proc.ImmediateResponse(
            status=http_status_pb2.HttpStatus(code=status),
            headers=ext_proc.HeaderMutation(set_headers=[_option(name, value) for name, value in headers]),
            body=form.error_body(error),
            details=error.code,
        )
    )


def lines(head: bytes) -> list[tuple[str, bytes]]:
    """Header lines as a head has them, apart."""
    pairs = (line.partition(b": ") for line in head.split(b"\r\n") if line)
    return [(name.decode("ascii"), value) for name, _, value in pairs]


def _mutation(endpoint: str, headers: Iterable[tuple[str, bytes]], removed: Sequence[str]) -> Any:
    options = [_option(DESTINATION, endpoint.encode()), *(_option(name, value) for name, value in headers)]
    return ext_proc.HeaderMutation(set_headers=options, remove_headers=removed)


def _option(name: str, value: bytes) -> Any:
    return base_pb2.HeaderValueOption(header=base_pb2.HeaderValue(key=name, raw_value=value), append_action=SET)


def _metadata(endpoint: str) -> struct_pb2.Struct:
    inner = struct_pb2.Struct(fields={DESTINATION: struct_pb2.Value(string_value=endpoint)})
    return struct_pb2.Struct(fields={DESTINATION_NAMESPACE: struct_pb2.Value(struct_value=inner)})


def _streamed(piece: bytes, *, ends: bool) -> Any:
    return ext_proc.CommonResponse(
        body_mutation=ext_proc.BodyMutation(
            streamed_response=ext_proc.StreamedBodyResponse(body=piece, end_of_stream=ends)
        )
    )
