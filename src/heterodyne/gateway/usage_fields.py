"""What is read of an engine's whole answers and of its stream events."""

from typing import Any

import msgspec
from msgspec import Struct


class PromptDetails(Struct):
    """Of the prompt."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class CompletionDetails(Struct):
    """Of the answer."""

    reasoning_tokens: int | None = None


class ReportedUsage(Struct):
    """Tokens, as an engine counts them; of sounds and pictures under the second pair of names."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


class CountedAnswer(Struct):
    """A whole answer."""

    usage: ReportedUsage | None = None
    error: Any = None


class CountedEvent(Struct):
    """One event of a stream."""

    usage: ReportedUsage | None = None
    choices: list[msgspec.Raw] | None = None
    error: Any = None


class Words(Struct):
    """What one choice of an event adds to an answer."""

    delta: dict[str, Any] | None = None
    text: Any = None
    finish_reason: Any = None


class EventWords(Struct):
    """One event of a stream, for what it says."""

    choices: list[Words] | None = None


decode_answer = msgspec.json.Decoder(CountedAnswer).decode
decode_event = msgspec.json.Decoder(CountedEvent).decode
decode_words = msgspec.json.Decoder(EventWords).decode
