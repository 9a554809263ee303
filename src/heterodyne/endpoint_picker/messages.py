"""The messages of Envoy's external processing protocol, as far as an endpoint picker reads and writes them.

They are laid out here by their public numbers: the package that has all of Envoy's messages also has an old copy of
OpenTelemetry's, which takes the place of the one that traces are sent with. Fields that are not named are passed over.
"""

from enum import IntEnum
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory, struct_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

PACKAGE: Final = "heterodyne.endpoint_picker"
STRUCT: Final = "google.protobuf.Struct"
KINDS: Final = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "int": FieldDescriptorProto.TYPE_INT32,  # enumerations too
    "string": FieldDescriptorProto.TYPE_STRING,
}
# By message its fields: number, name, and what they hold; `*` has many of it, `{}` a map from names to it.
FIELDS: Final[dict[str, tuple[tuple[int, str, str], ...]]] = {
    "HeaderValue": ((1, "key", "string"), (2, "value", "string"), (3, "raw_value", "bytes")),
    "HeaderMap": ((1, "headers", "HeaderValue*"),),
    "HeaderValueOption": ((1, "header", "HeaderValue"), (3, "append_action", "int")),
    "HeaderMutation": ((1, "set_headers", "HeaderValueOption*"), (2, "remove_headers", "string*")),
    "Metadata": ((1, "filter_metadata", STRUCT + "{}"),),
    "HttpHeaders": ((1, "headers", "HeaderMap"), (3, "end_of_stream", "bool")),
    "HttpBody": ((1, "body", "bytes"), (2, "end_of_stream", "bool")),
    "HttpTrailers": (),
    "ProtocolConfiguration": ((1, "request_body_mode", "int"), (2, "response_body_mode", "int")),
    "ProcessingRequest": (
        (2, "request_headers", "HttpHeaders"),
        (3, "response_headers", "HttpHeaders"),
        (4, "request_body", "HttpBody"),
        (5, "response_body", "HttpBody"),
        (6, "request_trailers", "HttpTrailers"),
        (7, "response_trailers", "HttpTrailers"),
        (8, "metadata_context", "Metadata"),
        (9, "attributes", STRUCT + "{}"),
        (11, "protocol_config", "ProtocolConfiguration"),
    ),
    "StreamedBodyResponse": ((1, "body", "bytes"), (2, "end_of_stream", "bool")),
    "BodyMutation": ((1, "body", "bytes"), (3, "streamed_response", "StreamedBodyResponse")),
    "CommonResponse": (
        (2, "header_mutation", "HeaderMutation"),
        (3, "body_mutation", "BodyMutation"),
        (5, "clear_route_cache", "bool"),
    ),
    "HeadersResponse": ((1, "response", "CommonResponse"),),
    "BodyResponse": ((1, "response", "CommonResponse"),),
    "TrailersResponse": (),
    "HttpStatus": ((1, "code", "int"),),
    "ImmediateResponse": (
        (1, "status", "HttpStatus"),
        (2, "headers", "HeaderMutation"),
        (3, "body", "bytes"),
        (5, "details", "string"),
    ),
    "ProcessingResponse": (
        (1, "request_headers", "HeadersResponse"),
        (2, "response_headers", "HeadersResponse"),
        (3, "request_body", "BodyResponse"),
        (4, "response_body", "BodyResponse"),
        (5, "request_trailers", "TrailersResponse"),
        (6, "response_trailers", "TrailersResponse"),
        (7, "immediate_response", "ImmediateResponse"),
        (8, "dynamic_metadata", STRUCT),
    ),
}
# Of these messages one field at a time is there.
CHOICES: Final = {
    "ProcessingRequest": ("request", range(2, 8)),
    "ProcessingResponse": ("response", range(1, 8)),
    "BodyMutation": ("mutation", range(1, 4)),
}
OVERWRITE_IF_EXISTS_OR_ADD: Final = 2  # of `HeaderValueOption.append_action`


class BodySendMode(IntEnum):
    """How a proxy sends bodies."""

    NONE = 0
    STREAMED = 1
    BUFFERED = 2
    BUFFERED_PARTIAL = 3
    FULL_DUPLEX_STREAMED = 4
    GRPC = 5


def _message(name: str) -> DescriptorProto:
    message = DescriptorProto(name=name)
    choice, chosen = CHOICES.get(name, ("", range(0)))
    if choice:
        message.oneof_decl.add(name=choice)
    for number, field, holds in FIELDS[name]:
        made = message.field.add(name=field, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        if number in chosen:
            made.oneof_index = 0
        if holds.endswith("{}"):
            entry = message.nested_type.add(name=f"{field.title().replace('_', '')}Entry")
            entry.options.map_entry = True
            for place, part, kind in ((1, "key", "string"), (2, "value", holds[:-2])):
                _hold(entry.field.add(name=part, number=place, label=FieldDescriptorProto.LABEL_OPTIONAL), kind)
            _hold(made, f"{name}.{entry.name}*")
        else:
            _hold(made, holds)
    return message


def _hold(field: FieldDescriptorProto, holds: str) -> None:
    kind = holds.removesuffix("*")
    if kind != holds:
        field.label = FieldDescriptorProto.LABEL_REPEATED
    if kind in KINDS:
        field.type = KINDS[kind]
    else:
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{kind}" if kind == STRUCT else f".{PACKAGE}.{kind}"


def _classes() -> dict[str, Any]:
    file = FileDescriptorProto(
        name="heterodyne/endpoint_picker.proto", package=PACKAGE, syntax="proto3", dependency=[STRUCT_FILE]
    )
    file.message_type.extend(_message(name) for name in FIELDS)
    pool = descriptor_pool.Default()
    found = pool.AddSerializedFile(file.SerializeToString()) or pool.FindFileByName(file.name)
    return {name: message_factory.GetMessageClass(found.message_types_by_name[name]) for name in FIELDS}


STRUCT_FILE: Final = struct_pb2.DESCRIPTOR.name
_CLASSES: Final = _classes()
HeaderValue: Final = _CLASSES["HeaderValue"]
HeaderValueOption: Final = _CLASSES["HeaderValueOption"]
HeaderMutation: Final = _CLASSES["HeaderMutation"]
ProcessingRequest: Final = _CLASSES["ProcessingRequest"]
ProcessingResponse: Final = _CLASSES["ProcessingResponse"]
StreamedBodyResponse: Final = _CLASSES["StreamedBodyResponse"]
BodyMutation: Final = _CLASSES["BodyMutation"]
CommonResponse: Final = _CLASSES["CommonResponse"]
HeadersResponse: Final = _CLASSES["HeadersResponse"]
BodyResponse: Final = _CLASSES["BodyResponse"]
TrailersResponse: Final = _CLASSES["TrailersResponse"]
HttpStatus: Final = _CLASSES["HttpStatus"]
ImmediateResponse: Final = _CLASSES["ImmediateResponse"]
