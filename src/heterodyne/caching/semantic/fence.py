"""What must be equal before two prompts are compared at all: everything in a request but its last question.

Tenant, model version, system prompt, earlier turns, tools and every parameter make the fence; one index per fence. So
"and in winter?" finds answers of the same conversation alone, and no tenant's answer is ever near another's prompt.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from heterodyne.caching.exact.key import request_key

_QUESTION: Final = "\x00question"  # stands where the last question was


class FencedPrompt(Struct, frozen=True):
    """A request as the semantic cache sees it."""

    fence: bytes
    text: str  # the last question


def try_fence(body: Mapping[str, Any], *, tenant_salt: bytes, model_version: str, path: str) -> FencedPrompt | None:
    """The fence and the question of a chat; None where it does not end with a user's text alone."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not isinstance(messages[-1], Mapping):
        return None
    last = messages[-1]
    text = _text(last.get("content"))
    if last.get("role") != "user" or not text or not text.strip():
        return None
    outside = {**body, "messages": [*messages[:-1], {**last, "content": _QUESTION}]}
    fence = request_key(outside, tenant_salt=tenant_salt, model_version=model_version, path=path)
    return FencedPrompt(fence, text)


def _text(content: Any) -> str | None:
    """The text of a message; None where it has a picture, a sound or a file."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return None
    parts = [part for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    if len(parts) != len(content):
        return None
    return "\n".join(str(part.get("text", "")) for part in parts)
