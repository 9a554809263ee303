"""What is read of a body, once more, where prompts are compared."""

import msgspec
from msgspec import Raw, Struct

NULL = Raw(b"null")


class PromptMessage(Struct):
    """One message, as far as it is rendered."""

    role: str = ""
    content: Raw = NULL
    tool_calls: Raw = NULL


class ChatMessages(Struct):
    """What is rendered of a chat."""

    messages: list[PromptMessage] = []
    tools: Raw = NULL


class CompletionPrompt(Struct):
    """What is rendered of a completion."""

    prompt: Raw = NULL


chat_decoder = msgspec.json.Decoder(ChatMessages)
completion_decoder = msgspec.json.Decoder(CompletionPrompt)
