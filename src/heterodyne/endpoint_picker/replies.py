"""What we answer a proxy with, message by message."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

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
from heterodyne.endpoint_picker import messages
from heterodyne.endpoint_picker.protocol import DESTINATION, DESTINATION_NAMESPACE
from heterodyne.gateway import render
from heterodyne.gateway.forms.form import ClientForm

PIECE_BYTES: Final = 62_000  # of a body that is sent on: proxies bound a piece at 64 KiB
# Refused for how much there is to do; the protocol has one status for it.
DROPPED: Final = (Shed, QueueFull, NotInTime, NoSpareCapacity, Overloaded, EnginesFull)
TOO_MANY: Final = 429

REQUEST_HEADERS: Final = messages.ProcessingResponse(request_headers=messages.HeadersResponse())
REQUEST_BODY: Final = messages.ProcessingResponse(request_body=messages.BodyResponse())
REQUEST_TRAILERS: Final = messages.ProcessingResponse(request_trailers=messages.TrailersResponse())
RESPONSE_HEADERS: Final = messages.ProcessingResponse(response_headers=messages.HeadersResponse())
RESPONSE_BODY: Final = messages.ProcessingResponse(response_body=messages.BodyResponse())
RESPONSE_TRAILERS: Final = messages.ProcessingResponse(response_trailers=messages.TrailersResponse())


def picked_in_headers(endpoint: str, headers: Iterable[tuple[str, bytes]], removed: Sequence[str]) -> Any:
    """Forward it there, said in answer to its headers."""
    common = messages.CommonResponse(header_mutation=_mutation(endpoint, headers, removed), clear_route_cache=True)
    return messages.ProcessingResponse(
        request_headers=messages.HeadersResponse(response=common), dynamic_metadata=_metadata(endpoint)
    )


def picked_in_body(
    endpoint: str, headers: Iterable[tuple[str, bytes]], removed: Sequence[str], body: bytes | None
) -> Any:
    """The same, in answer to a body that was buffered; `body` where it is another now."""
    common = messages.CommonResponse(header_mutation=_mutation(endpoint, headers, removed), clear_route_cache=True)
    if body is not None:
        common.body_mutation.body = body
    return messages.ProcessingResponse(
        request_body=messages.BodyResponse(response=common), dynamic_metadata=_metadata(endpoint)
    )


def request_pieces(body: bytes, *, ends_stream: bool) -> list[Any]:
    """A body that was taken piece by piece, sent on; its last piece ends it unless trailers follow."""
    starts = range(0, len(body), PIECE_BYTES) or (0,)
    return [
        messages.ProcessingResponse(
            request_body=messages.BodyResponse(
                response=_streamed(
                    body[start : start + PIECE_BYTES], ends=ends_stream and start + PIECE_BYTES >= len(body)
                )
            )
        )
        for start in starts
    ]


def response_piece(piece: bytes, *, ends_stream: bool) -> Any:
    """A piece of an answer, passed on."""
    return messages.ProcessingResponse(response_body=messages.BodyResponse(response=_streamed(piece, ends=ends_stream)))


def response_headers(headers: Iterable[tuple[str, bytes]]) -> Any:
    """Let the answer's head pass with these beside its own."""
    mutation = messages.HeaderMutation(set_headers=[_option(name, value) for name, value in headers])
    return messages.ProcessingResponse(
        response_headers=messages.HeadersResponse(response=messages.CommonResponse(header_mutation=mutation))
    )


def refused(error: HeterodyneError, form: ClientForm, request_id: str) -> Any:
    """The proxy answers with this error itself."""
    status = TOO_MANY if isinstance(error, DROPPED) else error.status
    headers = [*lines(render.error_headers(error)), ("x-heterodyne-request-id", request_id.encode())]
    return messages.ProcessingResponse(
        immediate_response=messages.ImmediateResponse(
            status=messages.HttpStatus(code=status),
            headers=messages.HeaderMutation(set_headers=[_option(name, value) for name, value in headers]),
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
    return messages.HeaderMutation(set_headers=options, remove_headers=removed)


def _option(name: str, value: bytes) -> Any:
    return messages.HeaderValueOption(
        header=messages.HeaderValue(key=name, raw_value=value), append_action=messages.OVERWRITE_IF_EXISTS_OR_ADD
    )


def _metadata(endpoint: str) -> struct_pb2.Struct:
    inner = struct_pb2.Struct(fields={DESTINATION: struct_pb2.Value(string_value=endpoint)})
    return struct_pb2.Struct(fields={DESTINATION_NAMESPACE: struct_pb2.Value(struct_value=inner)})


def _streamed(piece: bytes, *, ends: bool) -> Any:
    return messages.CommonResponse(
        body_mutation=messages.BodyMutation(
            streamed_response=messages.StreamedBodyResponse(body=piece, end_of_stream=ends)
        )
    )
