"""What the desks for plans and rehearsals refuse."""

from heterodyne.domain.errors import CallerError, GatewayError, Turn


class CannotPlan(CallerError):
    """The question makes sense as JSON and has no answer; the message says why, and what would have one."""

    code = "cannot_plan"
    status = 422


class ServiceBusy(GatewayError):
    """As many such questions are being answered as may be at once."""

    code = "desk_busy"
    status = 503
    retryable = True
    turn = Turn.NOBODY
