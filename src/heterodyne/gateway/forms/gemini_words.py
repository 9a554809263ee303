"""Words that Gemini's whole answers and its streams have in common."""

from typing import Any, Final

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.chat_answer import SaidChoice, SaidFunction, arguments_of
from heterodyne.gateway.usage_fields import ReportedUsage

Json = dict[str, Any]

FINISHES: Final = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def candidate(index: int, parts: list[Json], choice: SaidChoice | None) -> Json:
    """One of the answers, or a piece of it."""
    found: Json = {"content": {"role": "model", "parts": parts}, "index": index}
    if choice is not None and choice.finish_reason is not None:
        found["finishReason"] = FINISHES.get(choice.finish_reason, "STOP")
    return found


def answer_of(request: Request, candidates: list[Json], usage: ReportedUsage | None) -> Json:
    """An answer, or one event of it."""
    found: Json = {"candidates": candidates, "modelVersion": request.model, "responseId": request.id}
    if usage is not None:
        found["usageMetadata"] = _used(usage)
    return found


def call_part(function: SaidFunction, id_: str) -> Json:
    """A call, once it is complete."""
    return {"functionCall": {"id": id_, "name": function.name or "", "args": arguments_of(function)}}


def error_of(error: HeterodyneError) -> Json:
    """The body of an error, and the data of an error event."""
    status = STATUSES.get(error.status) or ("INVALID_ARGUMENT" if error.status < 500 else "INTERNAL")
    return {"error": {"code": error.status, "message": error.message, "status": status}}


def _used(usage: ReportedUsage) -> Json:
    prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
    details, more = usage.prompt_tokens_details, usage.completion_tokens_details
    thoughts = 0 if more is None else more.reasoning_tokens or 0
    found = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": completion - thoughts,
        "totalTokenCount": prompt + completion,
    }
    if thoughts:
        found["thoughtsTokenCount"] = thoughts
    if details is not None and details.cached_tokens:
        found["cachedContentTokenCount"] = details.cached_tokens
    return found
