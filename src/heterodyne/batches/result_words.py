"""Pure: how each API tells the result of one line."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from heterodyne.batches.batch import ANTHROPIC_API, OPENAI_API

NO_BODY: Final = b"null"
# Why a line has no answer, in OpenAI's words, and what Anthropic calls it.
CANCELLED: Final = "batch_cancelled"
EXPIRED: Final = "batch_expired"
UNANSWERED: Final = {
    CANCELLED: "The batch was cancelled before this request was answered.",
    EXPIRED: "This request could not be answered before the end of the completion window.",
}
ANTHROPIC_TYPES: Final = {CANCELLED: "canceled", EXPIRED: "expired"}

_encode = msgspec.json.Encoder().encode


class LineAnswer(NamedTuple):
    """What the gateway answered to one line."""

    status: int
    request_id: str
    body: bytes  # JSON


class ResultWords(NamedTuple):
    """Of one API: each gives JSON in one line."""

    answered: Callable[[str, LineAnswer], bytes]  # by the line's custom_id, whatever the status is
    unsent: Callable[[str, str, str], bytes]  # custom_id, code, message
    has_error_file: bool  # or all is in one


def one_line(body: bytes) -> bytes:
    """JSON without line breaks; engines may set theirs on several lines."""
    if not body:
        return NO_BODY
    try:
        return msgspec.json.format(body, indent=-1) if b"\n" in body or b"\r" in body else body
    except msgspec.DecodeError:
        return _encode(body.decode("utf-8", "replace"))


def _openai_answered(custom_id: str, answer: LineAnswer) -> bytes:
    return b'{"id":%b,"custom_id":%b,"response":{"status_code":%d,"request_id":%b,"body":%b},"error":null}' % (
        _encode(f"batch_{answer.request_id}"),
        _encode(custom_id),
        answer.status,
        _encode(answer.request_id),
        one_line(answer.body),
    )


def _openai_unsent(custom_id: str, code: str, message: str) -> bytes:
    return _encode(
        {
            "id": None,
            "custom_id": custom_id or None,
            "response": None,
            "error": {"code": code, "message": message},
        }
    )


def _anthropic_answered(custom_id: str, answer: LineAnswer) -> bytes:
    body = Raw(one_line(answer.body))
    result: dict[str, Any] = (
        {"type": "succeeded", "message": body} if answer.status == 200 else {"type": "errored", "error": body}
    )
    return _encode({"custom_id": custom_id, "result": result})


def _anthropic_unsent(custom_id: str, code: str, message: str) -> bytes:
    if code in ANTHROPIC_TYPES:
        return _encode({"custom_id": custom_id, "result": {"type": ANTHROPIC_TYPES[code]}})
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return _encode({"custom_id": custom_id, "result": {"type": "errored", "error": error}})


WORDS: Final = {
    OPENAI_API: ResultWords(_openai_answered, _openai_unsent, has_error_file=True),
    ANTHROPIC_API: ResultWords(_anthropic_answered, _anthropic_unsent, has_error_file=False),
}
