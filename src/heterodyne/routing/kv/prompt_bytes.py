"""The bytes that stand for a chat's rendered prompt, so that a longer conversation begins with the shorter one's.

They are made of JSON as the client sent it, which costs nothing to decode and holds whatever the engine will render:
images, tool calls and parts of kinds not known here. A client writes the same message in the same way every turn.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Raw

Bytes = bytes | memoryview | Raw

NOTHING = b""
BETWEEN = b"\n"  # JSON strings have it only escaped


class Said(NamedTuple):
    """One message: who, and what as JSON."""

    role: str
    content: Bytes = NOTHING
    tool_calls: Bytes = NOTHING


def chat_bytes(messages: Iterable[Said], tools: Bytes = NOTHING) -> bytes:
    """Tools first, for templates render them before the conversation."""
    parts: list[Bytes] = [tools]
    for role, content, tool_calls in messages:
        parts += (role.encode(), content, tool_calls)
    return BETWEEN.join(parts)
