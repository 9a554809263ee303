"""When two requests are the same request: a hash of what matters in the body, the model version and the tenant."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from blake3 import blake3

from heterodyne.caching.exact import fields

KEY_BYTES: Final = 32
SALT_BYTES: Final = 32


def request_key(body: Mapping[str, Any], *, tenant_salt: bytes, model_version: str, path: str) -> bytes:
    """The key of a decoded body. Order of members, white space and the spelling of numbers do not matter.

    The salt is the key of the hash, so that keys of two tenants never meet, and nobody can tell from a key whether
    somebody else has asked something.
    """
    assert len(tenant_salt) == SALT_BYTES
    kept = {name: value for name, value in body.items() if name not in fields.IGNORED}
    canonical = _ENCODER.encode([path, model_version, _with_plain_numbers(kept)])
    digest: bytes = blake3(canonical, key=tenant_salt).digest(KEY_BYTES)
    return digest


def is_repeatable(body: Mapping[str, Any]) -> bool:
    """Whether everything that its answer depends on stands in the body, and is the same tomorrow."""
    if any(body.get(name) not in (None, False) for name in fields.OUTSIDE):
        return False
    tools = body.get("tools") or ()
    if any(tool.get("type", "function") not in fields.CLIENT_TOOLS for tool in tools if isinstance(tool, Mapping)):
        return False
    messages = body.get("messages") or ()
    return not any(_points_outside(message) for message in messages if isinstance(message, Mapping))


def is_deterministic(body: Mapping[str, Any]) -> bool:
    """Whether the same request is meant to get the same answer again: no sampling, or a seed for it."""
    is_seeded = body.get("temperature") == 0 or body.get("seed") is not None or body.get("top_k") == 1
    return is_seeded and is_repeatable(body)


def _points_outside(message: Mapping[str, Any]) -> bool:
    """Whether a part of it is only named: a picture at an address, a file that was sent before."""
    content = message.get("content")
    if not isinstance(content, list):
        return False
    for part in content:
        named = part.get(part.get("type")) if isinstance(part, Mapping) else None
        if isinstance(named, Mapping) and (named.get("file_id") or _is_address(named.get("url"))):
            return True
    return False


def _is_address(url: Any) -> bool:
    return isinstance(url, str) and not url.startswith("data:")


def _with_plain_numbers(value: Any) -> Any:
    """1, 1.0 and 1e0 are one number and get one spelling."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: _with_plain_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(member) for member in value]
    return value


_ENCODER: Final = msgspec.json.Encoder(order="sorted")
