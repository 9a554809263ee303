"""The bytes that stand for a prompt as the engine will render it, made where prompts are compared.

They are JSON as the client sent it: that costs little to read again and holds whatever the engine will render, images
and tool calls too. A client writes the same message in the same way every turn.
"""

from typing import Final

from msgspec import Raw

from heterodyne.gateway.dialects.outline import Outline
from heterodyne.gateway.dialects.prompt_fields import PromptMessage, chat_decoder, completion_decoder

BETWEEN: Final = b"\n"  # not inside JSON as clients send it to a machine; where it is, prefixes only end elsewhere


class ChatPrompt:
    """Of a chat: tools first, for templates render them before the conversation."""

    __slots__ = ("_body", "_outline")
    whole_bytes = 0

    def __init__(self, body: bytes, outline: Outline | None = None) -> None:
        self._body = body if outline is None else outline.body
        self._outline = outline

    def whole(self) -> bytes:
        """A longer conversation begins with the bytes of the shorter."""
        chat = chat_decoder.decode(self._body)
        return self._join(chat.tools, chat.messages)

    def opening(self) -> bytes:
        """Up to the end of its first question."""
        chat = chat_decoder.decode(self._body)
        for index, message in enumerate(chat.messages):
            if message.role == "user":
                return self._join(chat.tools, chat.messages[: index + 1])
        return self._join(chat.tools, chat.messages)

    def _join(self, tools: Raw, messages: list[PromptMessage]) -> bytes:
        parts: list[bytes | Raw] = [tools]
        for message in messages:
            parts += (message.role.encode(), message.content, message.tool_calls)
        joined = BETWEEN.join(parts)
        return joined if self._outline is None else self._outline.fill(joined)


class TextPrompt:
    """Of a completion."""

    __slots__ = ("_body",)
    whole_bytes = 0

    def __init__(self, body: bytes) -> None:
        self._body = body

    def whole(self) -> bytes:
        """Without the closing quote, so that a longer text begins with the shorter."""
        return bytes(completion_decoder.decode(self._body).prompt)[:-1]

    def opening(self) -> bytes:
        """Nothing tells one text from the next but all of it."""
        return self.whole()
