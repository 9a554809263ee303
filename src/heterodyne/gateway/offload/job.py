"""What a worker and the process beside it say to each other: a small message, and a body behind it as it came."""

from struct import Struct as Layout
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import HeterodyneError, InternalError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import FIELDS, Request, Usage
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.ports.engine_request import JSON
from heterodyne.safety.guarded import Guarded
from heterodyne.safety.remote.judged import Judged
from heterodyne.safety.settings import GuardSettings

STAYING = (
    "body",
    "prompt",
    "received",
    "guard",
    "cache",
    "cascade",
    "cascade_name",
)  # fields of a request that are not sent along
HEAD = Layout("<IQ")  # lengths of the message and of the body


class ReadBody(Struct, frozen=True, kw_only=True, tag=True):
    """A client's body to a request."""

    path: bytes
    request_id: str
    deadline_s: float
    settings: GatewaySettings
    wants_prompt: bool  # somebody may compare prompts


class MakeCall(Struct, frozen=True, kw_only=True, tag=True):
    """A request to the call of an engine; with words it is to go on behind them."""

    request: dict[str, Any]
    replica: Replica
    said_text: str | None = None
    said_tokens: int = 0


class ReadAnswer(Struct, frozen=True, kw_only=True, tag=True):
    """An engine's whole answer to the client's; of the request there is all but its body."""

    request: dict[str, Any]
    replica: Replica


class CheckRequest(Struct, frozen=True, kw_only=True, tag=True):
    """A request's body to what policies make of it."""

    policies: tuple[tuple[str, GuardSettings], ...]
    media_type: str


class CheckAnswer(Struct, frozen=True, kw_only=True, tag=True):
    """A whole answer to what policies make of it."""

    policies: tuple[tuple[str, GuardSettings], ...]
    values: dict[str, str]  # by placeholder
    judged: tuple[Judged, ...] = ()  # what guards elsewhere have found in it
    expected: bytes = b""  # what its request lets it be, in JSON; empty: nobody has read that


class GatherTexts(Struct, frozen=True, kw_only=True, tag=True):
    """The body of a request, or a whole answer, to the texts that guards elsewhere are shown.

    What policies mask in an answer they do not see, nor what was masked in its request.
    """

    media_type: str = ""
    is_answer: bool = False
    policies: tuple[tuple[str, GuardSettings], ...] = ()
    values: dict[str, str] = {}  # by placeholder


Job = ReadBody | MakeCall | ReadAnswer | CheckRequest | CheckAnswer | GatherTexts


class JobFailed(Struct, frozen=True, kw_only=True, tag=True):
    """The error that the work ended with."""

    kind: str
    fields: dict[str, Any]


class BodyRead(Struct, frozen=True, kw_only=True, tag=True):
    """A request but for its body; behind it stand the bytes of its prompt, as far as anybody compares them."""

    request: dict[str, Any]
    prompt_bytes: int  # of the whole prompt; 0: it is not compared
    opening: bytes
    body_bytes: int = 0  # behind the prompt: of a body that was translated; 0: it is as it came


class CallMade(Struct, frozen=True, kw_only=True, tag=True):
    """A call; behind it stands its body, unless it is the request's own."""

    path: str
    is_same: bool
    media_type: str = JSON
    not_carried: tuple[str, ...] = ()


class AnswerRead(Struct, frozen=True, kw_only=True, tag=True):
    """An answer; behind it stands its body, unless it is the engine's own. With a path it is the next call instead."""

    is_same: bool
    next_path: str | None = None
    usage: dict[str, Any] | None = None  # the fields of it
    is_error: bool = False


class Checked(Struct, frozen=True, kw_only=True, tag=True):
    """What was found; behind it stands the body, unless it is as it came."""

    guarded: Guarded
    is_same: bool


class TextsGathered(Struct, frozen=True, kw_only=True, tag=True):
    """Behind it stand the texts, in JSON."""

    has_ids: bool


Result = JobFailed | BodyRead | CallMade | AnswerRead | Checked | TextsGathered

encode = msgspec.msgpack.Encoder().encode
decode_job = msgspec.msgpack.Decoder(Job).decode
decode_result = msgspec.msgpack.Decoder(Result).decode


def fields_of(request: Request) -> dict[str, Any]:
    """A request without what is large in it, or of no use elsewhere."""
    return {name: getattr(request, name) for name in FIELDS if name not in STAYING}


def request_of(fields: dict[str, Any], body: bytes) -> Request:
    """The same request again."""
    typed = {
        "operation": Operation(fields["operation"]),
        "private_fields": tuple(fields["private_fields"]),
        "not_carried": tuple(fields["not_carried"]),
    }
    return Request(**{**fields, **typed}, body=body)


def usage_fields(usage: Usage) -> dict[str, Any]:
    """What an answer used, on its way to another process; `Usage` takes it again."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "is_estimated": usage.is_estimated,
    }


def failure_of(error: HeterodyneError) -> JobFailed:
    """An error on its way to another process."""
    return JobFailed(kind=type(error).__name__, fields=vars(error))


def error_of(failed: JobFailed) -> HeterodyneError:
    """The same error again."""
    kind = _kinds().get(failed.kind, InternalError)
    error = kind.__new__(kind, failed.fields.get("message", ""))
    vars(error).update(failed.fields)
    return error


def _kinds() -> dict[str, type[HeterodyneError]]:
    kinds, found = {HeterodyneError.__name__: HeterodyneError}, [HeterodyneError]
    while found:
        found = [one for kind in found for one in kind.__subclasses__()]
        kinds |= {one.__name__: one for one in found}
    return kinds
