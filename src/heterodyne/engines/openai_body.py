"""The body of an OpenAI call as one engine is to have it: the client's own bytes, but for what must change."""

from typing import Final

import msgspec

from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request
from heterodyne.engines.cache_salt import SALT, combined, salt_member
from heterodyne.engines.form_body import with_field
from heterodyne.engines.json_edit import put, put_first
from heterodyne.ports.engine_request import JSON, EngineRequest

INCLUDE_USAGE: Final = b'{"include_usage":true}'
STREAM_USAGE: Final = b'"stream_options":' + INCLUDE_USAGE


def openai_call(path: str, request: Request, replica: Replica, *, is_salted: bool = False) -> EngineRequest:
    """With the body that the replica is to have, and the salt of its prompt's KV where the engine heeds one."""
    body = openai_body(request, replica, request.cache_salt if is_salted else "")
    return EngineRequest(replica.base_path + path, body, media_type=request.media_type or JSON)


def openai_body(request: Request, replica: Replica, cache_salt: str = "") -> bytes:
    """Asks every stream for its usage, so that tokens are counted and not guessed."""
    body = request.body
    # An alias, or a model that this one stands in for, is not what the engine knows it by; an adapter is.
    name = replica.engine_model or replica.model
    if name != request.model and request.model not in replica.adapters:
        if request.media_type:
            body = with_field(body, "model", name)
        else:
            body = put(body, {"model": msgspec.json.encode(name)})
    asks_usage = request.stream and not request.wants_usage and not request.passes
    if asks_usage and request.has_stream_options:
        body, asks_usage = put(body, {"stream_options": INCLUDE_USAGE}), False
    if cache_salt and SALT in request.private_fields:  # which the operator lets clients send
        body, cache_salt = put(body, {SALT: combined(body, cache_salt)}), ""
    members = [STREAM_USAGE] if asks_usage else []
    if cache_salt:
        members.append(salt_member(cache_salt))
    return put_first(body, b",".join(members)) if members else body
