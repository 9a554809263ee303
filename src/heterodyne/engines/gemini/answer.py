"""Gemini's whole answers and its usage in OpenAI's words."""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.hosted.told_chat import told_answer, told_call, told_choice, told_message, told_usage

Json = dict[str, Any]

LENGTHS: Final = ("MAX_TOKENS", "CONTINUATION")
FILTERS: Final = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "MODEL_ARMOR",
    }
)
SAID: Final = ("STOP", "MAX_TOKENS")  # reasons that OpenAI's have all of

_encode = msgspec.json.Encoder().encode


class GeneratedStruct(Struct, rename="camel"):
    """In Gemini's spelling; more than is read may be there."""


class GeneratedCall(GeneratedStruct):
    """A call, always whole."""

    name: str = ""
    args: dict[str, Raw] | None = None
    id: str | None = None


class GeneratedPart(GeneratedStruct):
    """One part: one of its members says what it is."""

    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    function_call: GeneratedCall | None = None


class GeneratedContent(GeneratedStruct):
    parts: list[GeneratedPart] = []


class Generated(GeneratedStruct):
    """One of the answers, or a piece of it."""

    content: GeneratedContent = msgspec.field(default_factory=GeneratedContent)
    finish_reason: str | None = None
    index: int = 0


class GeneratedUsage(GeneratedStruct):
    """Tokens; those of thoughts and of tools are not among the others."""

    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class GeneratedFeedback(GeneratedStruct):
    block_reason: str | None = None


class GeneratedError(GeneratedStruct):
    message: str = ""
    status: str = ""


class GeneratedAnswer(GeneratedStruct):
    """A whole answer, or one event."""

    candidates: list[Generated] = []
    prompt_feedback: GeneratedFeedback = msgspec.field(default_factory=GeneratedFeedback)
    usage_metadata: GeneratedUsage | None = None
    model_version: str = ""
    response_id: str = ""
    error: GeneratedError | None = None

    @property
    def is_blocked(self) -> bool:
        """Nothing is written to a prompt that was not let through."""
        return not self.candidates and self.prompt_feedback.block_reason is not None


decode_generated = msgspec.json.Decoder(GeneratedAnswer).decode


def chat_answer(body: bytes, created: int) -> bytes:
    """A chat completion; raises msgspec.DecodeError or EngineGarbage for what is no answer."""
    said = decode_generated(body)
    if said.is_blocked:
        blocked = told_choice(0, told_message("", "", []), "content_filter")
        choices = [blocked | native_finish(said.prompt_feedback.block_reason)]
    else:
        choices = [_choice(one, said.response_id) for one in said.candidates]
    if not choices:
        raise EngineGarbage("The provider's answer has nothing in it.")
    usage = None if said.usage_metadata is None else usage_of(said.usage_metadata)
    return told_answer(said.response_id, said.model_version, created, choices, usage)


def call_of(call: GeneratedCall, signature: str | None, response_id: str, place: int) -> Json:
    """With an id, which Gemini's calls need not have, and the signature that it wants to see again."""
    arguments = _encode(call.args or {}).decode()
    told = told_call(call.id or f"call_{response_id}_{place}", call.name, arguments)
    return told if signature is None else told | {"extra_content": {"google": {"thought_signature": signature}}}


def finish_of(reason: str, *, has_calls: bool) -> str:
    if reason in LENGTHS:
        return "length"
    if reason in FILTERS:
        return "content_filter"
    return "tool_calls" if has_calls else "stop"


def native_finish(reason: str | None) -> Json:
    """The provider's own word, where OpenAI's say less."""
    return {} if reason is None or reason in SAID else {"native_finish_reason": reason}


def usage_of(usage: GeneratedUsage) -> Json:
    """A count that is zero is left out of its JSON, and that nothing was cached is worth knowing: it was expected."""
    prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    thoughts = usage.thoughts_token_count
    completion = (usage.candidates_token_count or 0) + (thoughts or 0)
    return told_usage(prompt, completion, cached=usage.cached_content_token_count or 0, reasoning=thoughts)


def _choice(said: Generated, response_id: str) -> Json:
    texts, thoughts = [], []
    calls: list[Json] = []
    for part in said.content.parts:
        if part.function_call is not None:
            place = len(calls)
            calls.append(call_of(part.function_call, part.thought_signature, f"{response_id}_{said.index}", place))
        elif part.thought:
            thoughts.append(part.text or "")
        else:
            texts.append(part.text or "")
    reason = said.finish_reason or "STOP"
    message = told_message("".join(texts), "".join(thoughts), calls)
    return told_choice(said.index, message, finish_of(reason, has_calls=bool(calls))) | native_finish(reason)
