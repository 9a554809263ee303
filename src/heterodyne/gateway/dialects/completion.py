"""POST /v1/completions."""

from typing import Annotated

import msgspec
from msgspec import Meta

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.generation import check_bounds, longest, read_stream, shown_bytes
from heterodyne.gateway.dialects.generation_fields import GenerationFields
from heterodyne.gateway.dialects.members import listed, private, read_members
from heterodyne.gateway.dialects.prompts import TextPrompt
from heterodyne.gateway.dialects.text import Text, check_text, count, measure
from heterodyne.gateway.settings import GatewaySettings

API = frozenset(
    {
        "best_of",
        "echo",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "max_tokens",
        "model",
        "n",
        "presence_penalty",
        "prompt",
        "seed",
        "stop",
        "stream",
        "stream_options",
        "suffix",
        "temperature",
        "top_p",
        "user",
    }
)


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
    check_text("prompt", fields.prompt, settings)
    members, value_bytes = read_members(body)
    own = private(members, API)
    prompts, choices = count(fields.prompt), fields.n or 1
    output_tokens_max = longest(own, fields.max_tokens)
    sequences = check_bounds(settings, output_tokens_max, choices=choices, best_of=fields.best_of, prompts=prompts)
    stream, wants_usage, has_stream_options = read_stream(fields)
    tokens = measure(fields.prompt)[1]
    return Request(
        id=request_id,
        operation=Operation.COMPLETION,
        model=fields.model,
        body=body,
        stream=stream,
        wants_usage=wants_usage,
        has_stream_options=has_stream_options,
        prompt=TextPrompt(body) if tokens is None else None,
        private_fields=listed(own) if own else (),
        prompt_chars=shown_bytes(members, value_bytes) if tokens is None else 0,
        prompt_tokens=tokens,
        user=fields.user or "",
        output_tokens_max=output_tokens_max,
        choices=choices,
        prompts=prompts,
        sequences=sequences,
        deadline_s=deadline_s,
    )
