"""Converse's whole answers and its usage in OpenAI's words."""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.engines.hosted.told_chat import told_answer, told_call, told_choice, told_message, told_usage

Json = dict[str, Any]

FINISHES: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
SAID: Final = ("end_turn", "stop_sequence", "max_tokens", "tool_use")  # reasons that OpenAI's have all of


class ConverseStruct(Struct, rename="camel"):
    """In Converse's spelling; more than is read may be there."""


class ConverseUsage(ConverseStruct):
    """Tokens; those of the cache are not among the others."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class ConverseCall(ConverseStruct):
    """A call of a tool."""

    tool_use_id: str
    name: str
    input: dict[str, Raw] | None = None


class ConverseThoughts(ConverseStruct):
    """In words."""

    text: str = ""
    signature: str = ""


class ConverseReasoning(ConverseStruct):
    """Thoughts; None: they are held back."""

    reasoning_text: ConverseThoughts | None = None


class ConverseText(ConverseStruct):
    text: str = ""


class ConverseCited(ConverseStruct):
    """Words with where they come from."""

    content: list[ConverseText] = []


class ConverseBlock(ConverseStruct):
    """One block: one of its members says what it is."""

    text: str | None = None
    tool_use: ConverseCall | None = None
    reasoning_content: ConverseReasoning | None = None
    citations_content: ConverseCited | None = None


class ConverseMessage(ConverseStruct):
    content: list[ConverseBlock] = []


class ConverseOutput(ConverseStruct):
    message: ConverseMessage = msgspec.field(default_factory=ConverseMessage)


class ConverseAnswer(ConverseStruct):
    """A whole answer."""

    output: ConverseOutput
    stop_reason: str
    usage: ConverseUsage = msgspec.field(default_factory=ConverseUsage)


_decode = msgspec.json.Decoder(ConverseAnswer).decode
_encode = msgspec.json.Encoder().encode


def chat_answer(body: bytes, id: str, model: str, created: int) -> bytes:
    """A chat completion; raises msgspec.DecodeError for what is no answer. It has no id of its own."""
    said = _decode(body)
    texts: list[str] = []
    calls: list[Json] = []
    thoughts: list[ConverseThoughts] = []
    for block in said.output.message.content:
        if block.text is not None:
            texts.append(block.text)
        if block.citations_content is not None:
            texts += [one.text for one in block.citations_content.content]
        if block.reasoning_content is not None and block.reasoning_content.reasoning_text is not None:
            thoughts.append(block.reasoning_content.reasoning_text)
        if block.tool_use is not None:
            call = block.tool_use
            calls.append(told_call(call.tool_use_id, call.name, _encode(call.input or {}).decode()))
    message = told_message("".join(texts), "".join(one.text for one in thoughts), calls)
    if len(thoughts) == 1 and thoughts[0].signature:
        message["reasoning_signature"] = thoughts[0].signature
    choice = told_choice(0, message, finish_of(said.stop_reason)) | native_finish(said.stop_reason)
    return told_answer(id, model, created, [choice], usage_of(said.usage))


def finish_of(stop_reason: str) -> str:
    return FINISHES.get(stop_reason, "stop")


def native_finish(stop_reason: str) -> Json:
    """The provider's own word, where OpenAI's say less."""
    return {} if stop_reason in SAID else {"native_finish_reason": stop_reason}


def usage_of(usage: ConverseUsage) -> Json:
    """OpenAI counts all of the prompt, and what of it was cached beside."""
    cached, written = usage.cache_read_input_tokens, usage.cache_write_input_tokens
    prompt = usage.input_tokens + (cached or 0) + (written or 0)
    return told_usage(prompt, usage.output_tokens, cached=cached, reasoning=None, written=written)
