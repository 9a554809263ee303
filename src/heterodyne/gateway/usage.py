"""Reads what an engine says about tokens, out of whole answers and out of stream events."""

from typing import Final, final

import msgspec

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request, Usage
from heterodyne.gateway.event_bytes import try_data
from heterodyne.gateway.usage_fields import ReportedUsage, decode_answer, decode_event, decode_words

ROLE: Final = "role"
LOOKED_INTO_BYTES_MAX: Final = 128 * 1024  # of an event in which nothing says that it should be


@final
class EventNews:
    """What one stream event says besides its content."""

    __slots__ = ("is_error", "is_usage_only", "usage")

    def __init__(self, usage: Usage | None, *, is_usage_only: bool, is_error: bool) -> None:
        self.usage = usage
        self.is_usage_only = is_usage_only  # nothing in it but the count
        self.is_error = is_error


def of_answer(body: bytes) -> tuple[Usage | None, bool]:
    """The usage of a whole answer, and whether it is an error; raises msgspec.DecodeError when it is no JSON object."""
    answer = decode_answer(body)
    return _usage(answer.usage), answer.error is not None


def of_event(data: bytes) -> EventNews:
    """The news in the JSON of one event; raises msgspec.DecodeError when it is not a JSON object."""
    event = decode_event(data)
    return EventNews(
        _usage(event.usage),
        is_usage_only=event.usage is not None and not event.choices,
        is_error=event.error is not None,
    )


def first_of_answer(events: list[bytes]) -> int | None:
    """Which of these is the first to bring anything of the answer, or its end; None: none does."""
    for at, one in enumerate(events):
        data = try_data(one)
        if data is not None and (len(data) > LOOKED_INTO_BYTES_MAX or _is_answer(data)):
            return at
    return None


def event(request: Request, counted: Usage, *, id_: str, created: int) -> bytes:
    """The event that ends a stream with its count, for an engine that broke off before it."""
    kind = "text_completion" if request.operation is Operation.COMPLETION else "chat.completion.chunk"
    total = counted.prompt_tokens + counted.completion_tokens
    payload = {
        "id": id_,
        "object": kind,
        "created": created,
        "model": request.model,
        "choices": [],
        "usage": {
            "prompt_tokens": counted.prompt_tokens,
            "completion_tokens": counted.completion_tokens,
            "total_tokens": total,
        },
    }
    return b"data: " + msgspec.json.encode(payload) + b"\n\n"


def _usage(reported: ReportedUsage | None) -> Usage | None:
    if reported is None:
        return None
    prompt, completion = reported.prompt_tokens, reported.completion_tokens
    if prompt is None:  # some count what they are asked and nothing else
        prompt, completion = reported.input_tokens or reported.total_tokens, reported.output_tokens
    details, more = reported.prompt_tokens_details, reported.completion_tokens_details
    return Usage(
        prompt_tokens=prompt or 0,
        completion_tokens=completion or 0,
        cached_tokens=details.cached_tokens if details is not None else None,
        cache_write_tokens=details.cache_write_tokens or 0 if details is not None else 0,
        reasoning_tokens=more.reasoning_tokens or 0 if more is not None else 0,
    )


def _is_answer(data: bytes) -> bool:
    """Not who will speak, nor a count before any word. What cannot be read is left to others to judge."""
    if data == b"[DONE]":
        return True
    try:
        choices = decode_words(data).choices
    except (ValueError, RecursionError):
        return True
    for choice in choices or ():
        if choice.text or choice.finish_reason is not None:
            return True
        if choice.delta is not None and any(value for name, value in choice.delta.items() if name != ROLE):
            return True
    return False
