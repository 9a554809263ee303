"""POST /v1/completions."""

from typing import Annotated

import msgspec
from msgspec import Meta

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.generation import check_bounds, longest, names_stream_options, shown_bytes, wants_usage
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
    prompts = count(fields.prompt)
    output_tokens_max = longest(own, fields.max_tokens)
    sequences = check_bounds(fields, settings, output_tokens_max, best_of=fields.best_of, prompts=prompts)
    tokens = measure(fields.prompt)[1]
    return Request(
        id=request_id,
        operation=Operation.COMPLETION,
        model=fields.model,
        body=body,
        stream=bool(fields.stream),
        wants_usage=wants_usage(fields),
        has_stream_options=names_stream_options(fields),
        prompt=TextPrompt(body) if tokens is None else None,
        private_fields=listed(own) if own else (),
        prompt_chars=shown_bytes(members, value_bytes) if tokens is None else 0,
        prompt_tokens=tokens,
        user=fields.user or "",
        output_tokens_max=output_tokens_max,
        choices=fields.n or 1,
        prompts=prompts,
        sequences=sequences,
        deadline_s=deadline_s,
    )
