"""The clients of each API's own makers, all asked in the same way."""

from typing import Protocol

from tests.translation.clients.anthropic_messages import AnthropicClient
from tests.translation.clients.gemini_contents import GeminiClient
from tests.translation.clients.openai_chat import ChatClient
from tests.translation.clients.openai_responses import ResponsesClient
from tests.translation.meant import Asked, Said


class Client(Protocol):
    """One maker's client in front of a gateway."""

    name: str
    not_carried: str  # the header of the last answer that names what was not carried

    async def ask(self, asked: Asked, *, stream: bool) -> Said:
        """What was said to it; raises Refused or Broke."""
        ...

    async def leave(self, asked: Asked) -> None:
        """Begin a stream, and go away at its first word."""
        ...

    async def close(self) -> None: ...


CLIENTS: dict[str, type[ChatClient | ResponsesClient | AnthropicClient | GeminiClient]] = {
    one.name: one for one in (ChatClient, ResponsesClient, AnthropicClient, GeminiClient)
}
