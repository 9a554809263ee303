"""Errors of the gateway: it cannot take or finish the work."""

from heterodyne.domain.errors.base import GatewayError, Turn


class Overloaded(GatewayError):
    """Everything that may run at once is running."""

    code = "overloaded"
    status = 503
    retryable = True
    turn = Turn.NOBODY
    openai_type = "overloaded_error"


class NoSpareCapacity(GatewayError):
    """Batch or background work found no room beside interactive work; try again later."""

    code = "no_spare_capacity"
    status = 503
    retryable = True
    turn = Turn.NOBODY
    openai_type = "overloaded_error"


class QueueFull(GatewayError):
    """As many requests wait for the model, or for the tenant, as may."""

    code = "queue_full"
    status = 503
    retryable = True
    turn = Turn.NOBODY
    openai_type = "overloaded_error"


class NotInTime(GatewayError):
    """No replica would keep the deadline or the promise; the message says what the best could do, and when."""

    code = "not_in_time"
    status = 503
    retryable = True
    turn = Turn.NOBODY
    openai_type = "overloaded_error"


class Shed(GatewayError):
    """The fleet is nearly full, and requests of this tier give way to others."""

    code = "shed"
    status = 503
    retryable = True
    turn = Turn.NOBODY
    openai_type = "overloaded_error"


class StoreUnavailable(GatewayError):
    """A store that has to be asked does not answer, and the settings say that nothing passes without it."""

    code = "store_unavailable"
    status = 503
    retryable = True
    turn = Turn.OPERATOR


class GuardUnavailable(GatewayError):
    """A guard that has to be asked gave no verdict, and its policy says that nothing passes without one."""

    code = "guard_unavailable"
    status = 503
    retryable = True
    turn = Turn.OPERATOR


class IssuerUnavailable(GatewayError):
    """The keys that a token has to be checked with are not known, as its issuer could not be asked."""

    code = "issuer_unavailable"
    status = 503
    retryable = True
    turn = Turn.OPERATOR


class Draining(GatewayError):
    """This gateway is shutting down."""

    code = "draining"
    status = 503
    retryable = True
    turn = Turn.NOBODY
    openai_type = "overloaded_error"


class DeadlineExceeded(GatewayError):
    """The request's own deadline passed."""

    code = "deadline_exceeded"
    status = 504
    retryable = True
    turn = Turn.CALLER
    openai_type = "timeout_error"


class InternalError(GatewayError):
    """Our mistake; the log has the details under the request id."""

    code = "internal_error"
    status = 500
