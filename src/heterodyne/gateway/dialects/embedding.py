"""POST /v1/embeddings."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.request import Operation, Request
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.text import Text, measure
from heterodyne.gateway.settings import GatewaySettings

INPUTS_MAX = 2048


class EmbeddingFields(Struct):
    """The typed fields of an embedding request."""

    model: str
    input: Text
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    user: str | None = None


_decoder = msgspec.json.Decoder(EmbeddingFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    if isinstance(fields.input, list) and len(fields.input) > INPUTS_MAX and not isinstance(fields.input[0], int):
        raise InvalidField(f"input: {len(fields.input)} texts; the limit is {INPUTS_MAX}.", param="input")
    if not fields.input or (isinstance(fields.input, list) and "" in fields.input):
        raise InvalidField("input: an empty text cannot be embedded.", param="input")
    chars, tokens = measure(fields.input)
    return Request(
        id=request_id,
        operation=Operation.EMBEDDING,
        model=fields.model,
        body=body,
        prompt_chars=chars,
        prompt_tokens=tokens,
        deadline_s=deadline_s,
    )
