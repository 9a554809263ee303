"""POST /v1/completions."""

from typing import Annotated

import msgspec
from msgspec import Meta

from heterodyne.domain.request import Operation, Request
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.generation import GenerationFields, check_bounds
from heterodyne.gateway.dialects.prompts import PlainText
from heterodyne.gateway.dialects.text import Text, measure
from heterodyne.gateway.settings import GatewaySettings


class CompletionFields(GenerationFields, kw_only=True):
    """The typed fields of a text completion."""

    prompt: Text
    suffix: str | None = None
    echo: bool | None = None
    logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    best_of: Annotated[int, Meta(ge=1, le=20)] | None = None


_decoder = msgspec.json.Decoder(CompletionFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    check_bounds(fields, settings, fields.max_tokens)
    chars, tokens = measure(fields.prompt)
    return Request(
        id=request_id,
        operation=Operation.COMPLETION,
        model=fields.model,
        body=body,
        stream=bool(fields.stream),
        wants_usage=fields.wants_usage(),
        has_stream_options=fields.stream_options is not msgspec.UNSET,
        prompt=PlainText(body) if tokens is None else None,
        prompt_chars=chars,
        prompt_tokens=tokens,
        user=fields.user or "",
        output_tokens_max=fields.max_tokens,
        choices=fields.n or 1,
        deadline_s=deadline_s,
    )
