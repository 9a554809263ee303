"""The JSON shapes of engines' errors, and their names for them."""

from heterodyne.emulator.response import EmulatorResponse, Refusal, json_response

# What Python's own names for these statuses make of them, in vLLM and its relatives.
KINDS = {400: "BadRequestError", 404: "NotFoundError", 501: "NotImplementedError", 503: "ServiceUnavailableError"}


def nested_error(refusal: Refusal) -> EmulatorResponse:
    """OpenAI's shape: everything under `error`."""
    error = {
        "message": refusal.message,
        "type": kind_of(refusal.status),
        "param": refusal.param,
        "code": refusal.status,
    }
    return json_response({"error": error}, refusal.status)


def flat_error(refusal: Refusal) -> EmulatorResponse:
    """The same fields at the top level."""
    error = {
        "object": "error",
        "message": refusal.message,
        "type": kind_of(refusal.status),
        "param": refusal.param,
        "code": refusal.status,
    }
    return json_response(error, refusal.status)


def kind_of(status: int) -> str:
    """A word for a status."""
    return KINDS.get(status) or ("InternalServerError" if status >= 500 else "BadRequestError")
