"""POST /v1/embeddings."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import ModelName, Name, decode
from heterodyne.gateway.dialects.members import bytes_of, listed, private, read_members
from heterodyne.gateway.dialects.text import Text, check_text, count, measure
from heterodyne.gateway.settings import GatewaySettings

API = frozenset({"dimensions", "encoding_format", "input", "model", "user"})
STEERING = API - {"input"}


class EmbeddingFields(Struct):
    """The typed fields of an embedding request."""

    model: ModelName
    input: Text
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    user: Name | None = None


_decoder = msgspec.json.Decoder(EmbeddingFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    check_text("input", fields.input, settings)
    if not fields.input or (isinstance(fields.input, list) and "" in fields.input):
        raise InvalidField("input: an empty text cannot be embedded.", param="input")
    members, value_bytes = read_members(body)
    own = private(members, API)
    tokens = measure(fields.input)[1]
    return Request(
        id=request_id,
        operation=Operation.EMBEDDING,
        model=fields.model,
        body=body,
        private_fields=listed(own) if own else (),
        prompt_chars=value_bytes - bytes_of(members, STEERING) if tokens is None else 0,
        prompt_tokens=tokens,
        prompts=count(fields.input),
        dimensions=fields.dimensions,
        wants_base64=fields.encoding_format == "base64",
        deadline_s=deadline_s,
    )
