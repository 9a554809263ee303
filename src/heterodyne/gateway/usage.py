"""Reads what an engine says about tokens, out of whole answers and out of stream events."""

from typing import Any

import msgspec

from heterodyne.domain.request import Operation, Request, Usage


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class _CompletionDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Reported(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Answer(msgspec.Struct):
    usage: _Reported | None = None
    error: Any = None


class _Event(msgspec.Struct):
    usage: _Reported | None = None
    choices: list[msgspec.Raw] | None = None
    error: Any = None


_decode_answer = msgspec.json.Decoder(_Answer).decode
_decode_event = msgspec.json.Decoder(_Event).decode


class EventNews(msgspec.Struct, frozen=True):
    """What one stream event says besides its content."""

    usage: Usage | None
    is_usage_only: bool  # nothing in it but the count
    is_error: bool


def of_answer(body: bytes) -> tuple[Usage | None, bool]:
    """The usage of a whole answer, and whether it is an error; raises msgspec.DecodeError when it is no JSON object."""
    answer = _decode_answer(body)
    return _usage(answer.usage), answer.error is not None


def of_event(data: bytes) -> EventNews:
    """The news in the JSON of one event; raises msgspec.DecodeError when it is not a JSON object."""
    event = _decode_event(data)
    return EventNews(
        usage=_usage(event.usage),
        is_usage_only=event.usage is not None and not event.choices,
        is_error=event.error is not None,
    )


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


def _usage(reported: _Reported | None) -> Usage | None:
    if reported is None:
        return None
    details, more = reported.prompt_tokens_details, reported.completion_tokens_details
    return Usage(
        prompt_tokens=reported.prompt_tokens or 0,
        completion_tokens=reported.completion_tokens or 0,
        cached_tokens=details.cached_tokens if details is not None else None,
        reasoning_tokens=more.reasoning_tokens or 0 if more is not None else 0,
    )
