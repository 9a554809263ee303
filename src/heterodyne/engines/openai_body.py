"""The body of an OpenAI call as one engine is to have it: the client's own bytes, but for what must change."""

from typing import Final

import msgspec

from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request
from heterodyne.engines.form_body import with_field
from heterodyne.engines.json_edit import put, put_first
from heterodyne.ports.engine_request import JSON, EngineRequest

INCLUDE_USAGE: Final = b'{"include_usage":true}'


def openai_call(path: str, request: Request, replica: Replica) -> EngineRequest:
    """With the body that the replica is to have."""
    body = openai_body(request, replica)
    return EngineRequest(replica.base_path + path, body, media_type=request.media_type or JSON)


def openai_body(request: Request, replica: Replica) -> bytes:
    """Asks every stream for its usage, so that tokens are counted and not guessed."""
    body = request.body
    # An alias, or a model that this one stands in for, is not what the engine knows it by; an adapter is.
    name = replica.engine_model or replica.model
    if name != request.model and request.model not in replica.adapters:
        if request.media_type:
            body = with_field(body, "model", name)
        else:
            body = put(body, {"model": msgspec.json.encode(name)})
    if request.stream and not request.wants_usage and not request.passes:
        if request.has_stream_options:
            return put(body, {"stream_options": INCLUDE_USAGE})
        return put_first(body, b'"stream_options":' + INCLUDE_USAGE)
    return body
