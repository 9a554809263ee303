"""What the operator's door refuses, beside what the whole house refuses."""

from heterodyne.domain.errors import CallerError, GatewayError, Turn


class ChangeRefused(CallerError):
    """The fleet cannot be changed like this; the message says why, and what would do instead."""

    code = "change_refused"
    status = 409


class NobodyAnswers(GatewayError):
    """No worker could be asked about its decisions."""

    code = "no_worker_answers"
    status = 503
    retryable = True
    turn = Turn.NOBODY
