"""POST /v1/images/generations, and the forms of /v1/images/edits and /v1/images/variations."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import ModelName, Name, decode
from heterodyne.gateway.dialects.form_fields import flag, number, read_fields
from heterodyne.gateway.dialects.members import bytes_of, listed, private, read_members
from heterodyne.gateway.settings import GatewaySettings

IMAGES_MAX: Final = 10  # of one request, as in OpenAI's API
VARIATION_API: Final = frozenset({"image", "model", "n", "response_format", "size", "user"})
EDIT_API: Final = VARIATION_API | {
    *("background", "input_fidelity", "mask", "moderation", "output_compression", "output_format", "partial_images"),
    *("prompt", "quality", "stream"),
}
GENERATION_API: Final = (EDIT_API - {"image", "input_fidelity", "mask"}) | {"style"}
PROMPT: Final = frozenset({"prompt"})


class ImageFields(Struct):
    """The typed fields of a picture that is to be made."""

    model: ModelName
    prompt: Annotated[str, Meta(min_length=1)]
    n: Annotated[int, Meta(ge=1, le=IMAGES_MAX)] | None = None
    stream: bool | None = None
    user: Name | None = None


_decoder = msgspec.json.Decoder(ImageFields)


def read_generation(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_decoder, body)
    members, _ = read_members(body)
    own = private(members, GENERATION_API)
    return Request(
        id=request_id,
        operation=Operation.IMAGE,
        model=fields.model,
        body=body,
        user=fields.user or "",
        private_fields=listed(own) if own else (),
        prompt_chars=bytes_of(members, PROMPT),
        choices=fields.n or 1,
        sequences=fields.n or 1,
        deadline_s=deadline_s,
        stream=bool(fields.stream),
        passes=bool(fields.stream),
    )


def read_edit(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    return _of_form(Operation.IMAGE_EDIT, EDIT_API, body, request_id, deadline_s)


def read_variation(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    return _of_form(Operation.IMAGE_VARIATION, VARIATION_API, body, request_id, deadline_s)


def _of_form(operation: Operation, api: frozenset[str], body: bytes, request_id: str, deadline_s: float) -> Request:
    form, model, own = read_fields(body, api, "image", "image[]")
    prompt = form.value("prompt") or ""
    if operation is Operation.IMAGE_EDIT and not prompt:
        raise InvalidField("prompt: what is to be changed is missing.", param="prompt")
    pictures, streams = number(form, "n", default=1, most=IMAGES_MAX), flag(form, "stream")
    return Request(
        id=request_id,
        operation=operation,
        model=model,
        body=body,
        user=form.value("user") or "",
        private_fields=own,
        prompt_chars=len(prompt),
        choices=pictures,
        sequences=pictures,
        deadline_s=deadline_s,
        media_type=form.media_type,
        stream=streams,
        passes=streams,
    )
