"""POST /v1/audio/speech: text to sound, which is sent on as it is made."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import ModelName, Word, decode
from heterodyne.gateway.dialects.members import bytes_of, listed, private, read_members
from heterodyne.gateway.settings import GatewaySettings

API = frozenset({"input", "instructions", "model", "response_format", "speed", "stream_format", "voice"})
SPOKEN = frozenset({"input", "instructions"})


class SpeechFields(Struct):
    """What is to be said, and by which voice; how long a text may be is the engine's to say."""

    model: ModelName
    input: Annotated[str, Meta(min_length=1)]
    voice: Any = None  # a name, or an object with the id of one
    instructions: str | None = None
    response_format: Word | None = None
    speed: Annotated[float, Meta(gt=0)] | None = None
    stream_format: Literal["audio", "sse"] | None = None


_decoder = msgspec.json.Decoder(SpeechFields)


def read(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    members, _ = read_members(body)
    own = private(members, API)
    return Request(
        id=request_id,
        operation=Operation.SPEECH,
        model=fields.model,
        body=body,
        private_fields=listed(own) if own else (),
        prompt_chars=bytes_of(members, SPOKEN),
        deadline_s=deadline_s,
        stream=True,
        passes=True,
    )
