"""Errors of the admin port alone; those of `domain/errors` may be answered here too."""

from heterodyne.domain.errors import CallerError, GatewayError, Turn


class ChangeRefused(CallerError):
    """The fleet cannot be changed like this; the message says why, and what would do instead."""

    code = "change_refused"
    status = 409


class NoWorkerAnswers(GatewayError):
    """No worker could be asked about its decisions."""

    code = "no_worker_answers"
    status = 503
    retryable = True
    turn = Turn.NOBODY


class ReadOnly(CallerError):
    """Whoever asks may look at everything and change nothing."""

    code = "read_only"
    status = 403


class CrossSite(CallerError):
    """A request that came with a session, and that the console's own page did not send."""

    code = "cross_site"
    status = 403


class TooManySignIns(CallerError):
    """Too many keys were wrong lately, from this address or altogether."""

    code = "too_many_sign_ins"
    status = 429
    retryable = True


class TooManyOpen(GatewayError):
    """As many live feeds or playground answers are open as may be."""

    code = "too_many_open"
    status = 503
    retryable = True
    turn = Turn.NOBODY


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
