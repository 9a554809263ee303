"""Words that Anthropic's whole answers and its streams have in common."""

from typing import Any, Final

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.chat_answer import SaidChoice
from heterodyne.gateway.usage_fields import ReportedUsage

Json = dict[str, Any]

STOPS: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
ERRORS: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


def message_id(request: Request) -> str:
    """As its clients know ids."""
    return f"msg_{request.id}"


def stop_of(choice: SaidChoice) -> Json:
    """Why it ended, and by which text where the engine tells."""
    if choice.finish_reason == "stop" and isinstance(choice.stop_reason, str):
        return {"stop_reason": "stop_sequence", "stop_sequence": choice.stop_reason}
    return {"stop_reason": STOPS.get(choice.finish_reason or "stop", "end_turn"), "stop_sequence": None}


def used(usage: ReportedUsage | None) -> Json:
    """Tokens; Anthropic counts those of the cache apart from the others."""
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    details = usage.prompt_tokens_details
    cached = 0 if details is None else details.cached_tokens or 0
    written = 0 if details is None else details.cache_write_tokens or 0
    found: Json = {
        "input_tokens": max(0, (usage.prompt_tokens or 0) - cached - written),
        "output_tokens": usage.completion_tokens or 0,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }
    more = usage.completion_tokens_details
    if more is not None and more.reasoning_tokens:
        found["output_tokens_details"] = {"thinking_tokens": more.reasoning_tokens}
    return found


def error_of(error: HeterodyneError) -> Json:
    """The body of an error, and the data of an error event."""
    kind = ERRORS.get(error.status) or ("invalid_request_error" if 400 <= error.status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}}
