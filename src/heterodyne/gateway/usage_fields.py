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


decode_answer = msgspec.json.Decoder(CountedAnswer).decode
decode_event = msgspec.json.Decoder(CountedEvent).decode
