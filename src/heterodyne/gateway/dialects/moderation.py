"""POST /v1/moderations."""

from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import ModelName, check_count, decode
from heterodyne.gateway.dialects.members import bytes_of, listed, private, read_members
from heterodyne.gateway.settings import GatewaySettings

API = frozenset({"input", "model"})
STEERING = frozenset({"model"})
MODEL_DEFAULT = "omni-moderation-latest"  # of OpenAI's API; whoever serves another gives it this alias


class ModerationFields(Struct):
    """Texts, or parts of one message; a client need not name a model."""

    input: str | Annotated[list[str | dict[str, Raw]], Meta(min_length=1)]
    model: ModelName = MODEL_DEFAULT


_decoder = msgspec.json.Decoder(ModerationFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    prompts = 1 if isinstance(fields.input, str) else len(fields.input)
    check_count("input", "texts", prompts, settings.prompts_max)
    members, value_bytes = read_members(body)
    own = private(members, API)
    return Request(
        id=request_id,
        operation=Operation.MODERATION,
        model=fields.model,
        body=body,
        private_fields=listed(own) if own else (),
        prompt_chars=value_bytes - bytes_of(members, STEERING),
        prompts=prompts,
        deadline_s=deadline_s,
    )
