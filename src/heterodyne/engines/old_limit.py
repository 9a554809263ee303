"""For engines that know OpenAI's `max_completion_tokens` only by its old name."""

import msgspec

from heterodyne.engines.json_edit import put


class _Limits(msgspec.Struct):
    max_tokens: int | None = None
    max_completion_tokens: int | None = None


_decode_limits = msgspec.json.Decoder(_Limits).decode


def with_old_limit(body: bytes) -> bytes:
    """A request with its limit as `max_tokens`, and as the bytes that came where it has none or says it so itself."""
    if body.find(b'"max_completion_tokens"') < 0:
        return body
    limits = _decode_limits(body)
    if limits.max_completion_tokens is None or limits.max_tokens is not None:
        return body
    return put(body, {"max_tokens": msgspec.json.encode(limits.max_completion_tokens)})
