"""Reads an engine's error answer, in whichever of the common shapes it came, and makes one of our errors of it."""

from typing import NamedTuple

import msgspec

from heterodyne.domain.errors import (
    ContextExceeded,
    EngineOverloaded,
    EngineRefused,
    EngineUnavailable,
    HeterodyneError,
)
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request

MESSAGE_CHARS_MAX = 1000
RETRY_AFTER_S = 1
CALLERS_STATUSES = (400, 413, 422)
OVERLOADED = (503, 529)


class ErrorAnswer(NamedTuple):
    """What an engine says went wrong; empty and None where it does not say."""

    message: str = ""
    code: str | None = None
    param: str | None = None


class _Detail(msgspec.Struct):
    """One finding of FastAPI's request validation."""

    msg: str = ""
    loc: list[str | int] = []


class _Body(msgspec.Struct):
    message: str = ""
    code: str | int | None = None
    param: str | None = None


class _Answer(msgspec.Struct):
    error: _Body | str | None = None
    message: str | None = None
    error_message: str | None = None
    detail: list[_Detail] | str | None = None
    param: str | None = None


_decode = msgspec.json.Decoder(_Answer).decode


def read_error(body: bytes) -> ErrorAnswer:
    """Nested as OpenAI's, flat as SGLang's and TensorRT-LLM's, a word as TGI's, findings as FastAPI's.

    The `error_message` is of SGLang's control calls.
    """
    try:
        answer = _decode(body)
    except (ValueError, RecursionError):
        return ErrorAnswer()
    if isinstance(answer.error, _Body):
        code = answer.error.code
        message = answer.error.message[:MESSAGE_CHARS_MAX]
        return ErrorAnswer(message, code if isinstance(code, str) else None, answer.error.param)
    if isinstance(answer.detail, list):
        return _finding(answer.detail)
    message = answer.error or answer.message or answer.detail or answer.error_message or ""
    return ErrorAnswer(message[:MESSAGE_CHARS_MAX], None, answer.param)


def _finding(details: list[_Detail]) -> ErrorAnswer:
    """FastAPI names places as `["body", "messages", 0]`; the first finding speaks for all."""
    if not details:
        return ErrorAnswer()
    place = ".".join(str(step) for step in details[0].loc if step != "body")
    message = f"{place}: {details[0].msg}" if place else details[0].msg
    return ErrorAnswer(message[:MESSAGE_CHARS_MAX], None, place or None)


def refused(status: int, message: str, code: str | None = None, param: str | None = None) -> HeterodyneError:
    """An engine's refusal: the caller's own mistakes keep status and words, the engine's troubles do not."""
    if status in (401, 403):
        # Our key with the engine, not the client's key with us.
        return EngineUnavailable("The engine refuses the gateway's credentials; its operator has to look.")
    if status == 501:
        return EngineRefused(message or "The engine of this model has no such call.", status=status)
    if status >= 500:
        return EngineRefused(f"The engine failed with status {status}.", status=503 if status in OVERLOADED else 502)
    return EngineRefused(message or f"The engine refused with status {status}.", status=status, code=code, param=param)


def full() -> HeterodyneError:
    """An engine of ours that takes no more now: another replica may, and so may this one in a moment."""
    return EngineUnavailable("The engine has no room for the request now.", retry_after_s=RETRY_AFTER_S)


def overloaded(retry_after_s: int | None = None) -> EngineOverloaded:
    """A provider that has too much to do: another may have less, and so may this one in a moment."""
    return EngineOverloaded(
        "The provider has too much to do now.", retry_after_s=RETRY_AFTER_S if retry_after_s is None else retry_after_s
    )


def context_exceeded(request: Request, message: str) -> HeterodyneError:
    """In the engine's own words, which mostly have both numbers."""
    return ContextExceeded(message, param="messages" if request.operation is Operation.CHAT else "prompt")
