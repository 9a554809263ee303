"""Anthropic's whole answers and its usage in OpenAI's words."""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.engines.hosted.told_chat import told_answer, told_call, told_choice, told_message, told_usage

Json = dict[str, Any]

FINISHES: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


class ClaudeThinkingTokens(Struct):
    """Of the answer, those that are thoughts."""

    thinking_tokens: int | None = None


class ClaudeUsage(Struct):
    """Tokens; those of the cache are not among the others. None: it is told elsewhere, or not at all."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: ClaudeThinkingTokens | None = None

    def later(self, newer: "ClaudeUsage") -> "ClaudeUsage":
        """With what is told again, as counts in a stream are of everything so far."""
        found = {name: getattr(newer, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(self, **{name: value for name, value in found.items() if value is not None})


class ClaudeBlock(Struct):
    """One block, of any type."""

    type: str
    text: str = ""
    thinking: str = ""
    signature: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Raw] | None = None


class ClaudeMessage(Struct):
    """An answer, or the beginning of one."""

    id: str
    model: str = ""
    content: list[ClaudeBlock] = []
    stop_reason: str | None = None
    stop_sequence: str | None = None
    usage: ClaudeUsage = msgspec.field(default_factory=ClaudeUsage)


_decode = msgspec.json.Decoder(ClaudeMessage).decode
_encode = msgspec.json.Encoder().encode


def chat_answer(body: bytes, created: int) -> bytes:
    """A chat completion; raises msgspec.DecodeError for what is no message."""
    said = _decode(body)
    texts, calls = [], []
    thoughts: list[ClaudeBlock] = []
    for block in said.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "thinking":
            thoughts.append(block)
        elif block.type == "tool_use":
            calls.append(told_call(block.id, block.name, _encode(block.input or {}).decode()))
    message = told_message("".join(texts), "".join(block.thinking for block in thoughts), calls)
    if len(thoughts) == 1 and thoughts[0].signature:
        message["reasoning_signature"] = thoughts[0].signature
    choice = told_choice(0, message, finish_of(said.stop_reason)) | stop_of(said.stop_sequence)
    return told_answer(said.id, said.model, created, [choice], usage_of(said.usage))


def finish_of(stop_reason: str | None) -> str:
    return FINISHES.get(stop_reason or "end_turn", "stop")


def stop_of(stop_sequence: str | None) -> Json:
    """The text that ended it, where vLLM and SGLang have it too."""
    return {} if stop_sequence is None else {"stop_reason": stop_sequence}


def usage_of(usage: ClaudeUsage) -> Json:
    """OpenAI counts all of the prompt, and what of it was cached beside."""
    cached = usage.cache_read_input_tokens
    written = usage.cache_creation_input_tokens
    prompt = (usage.input_tokens or 0) + (cached or 0) + (written or 0)
    details = usage.output_tokens_details
    reasoning = None if details is None else details.thinking_tokens
    return told_usage(prompt, usage.output_tokens or 0, cached=cached, reasoning=reasoning, written=written)
