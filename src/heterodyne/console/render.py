"""Answers as JSON, errors in the shape that the gateway's clients know."""

import msgspec
from starlette.responses import Response

from heterodyne.domain.errors import AuditBroken, HeterodyneError, SettingsInvalid, UnknownName

JSON = "application/json"
STATUS_OF = {UnknownName: 404, SettingsInvalid: 422, AuditBroken: 503}


def answer(value: object, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, {"cache-control": "no-store"}, JSON)


def status_of(kind: type[HeterodyneError], own: int) -> int:
    """The status on this port for an error that has no status of its own, or another elsewhere."""
    return next((status for other, status in STATUS_OF.items() if issubclass(kind, other)), own)


def error_answer(error: HeterodyneError) -> Response:
    """An error, with what its status promises."""
    status = status_of(type(error), error.status)
    response = answer(error_shape(error), status)
    if status == 401:
        response.headers["www-authenticate"] = "Bearer"
    if error.retry_after_s is not None:
        response.headers["retry-after"] = str(error.retry_after_s)
    return response


def error_shape(error: HeterodyneError) -> dict[str, dict[str, str | None]]:
    """The body of an error."""
    status = status_of(type(error), error.status)
    openai_type = "invalid_request_error" if 400 <= status < 500 else error.openai_type
    if status == 401:
        openai_type = "authentication_error"
    return {"error": {"message": error.message, "type": openai_type, "param": error.param, "code": error.code}}
