"""Every failure Heterodyne can name, as one tree.

HeterodyneError
├── CallerError                     the client must change something
│   ├── MalformedHttp               400 malformed_http
│   ├── MalformedJson               400 invalid_json
│   ├── InvalidField                400 invalid_value
│   ├── ContextExceeded             400 context_length_exceeded
│   ├── Unauthenticated             401 invalid_api_key
│   ├── NotAllowed                  403 not_allowed           outside the scopes of the key
│   ├── UnknownModel                404 model_not_found
│   ├── UnknownPath                 404 unknown_path
│   ├── MethodNotAllowed            405 method_not_allowed
│   ├── RequestTooSlow              408 request_timeout
│   ├── BodyTooLarge                413 body_too_large
│   ├── UnsupportedMediaType        415 unsupported_media_type
│   ├── UnknownHost                 421 unknown_host
│   ├── LimitReached                429 rate_limit_exceeded   of a key, its project or its organisation
│   ├── BudgetSpent                 429 insufficient_quota    the same, in dollars
│   ├── HeadTooLarge                431 head_too_large
│   └── ClientGone                  499 client_gone           never rendered: nobody is listening
├── GatewayError                    we cannot take or finish the work
│   ├── Overloaded                  503 overloaded
│   ├── NoSpareCapacity             503 no_spare_capacity     batch work beside interactive work
│   ├── QueueFull                   503 queue_full            as many wait as may
│   ├── NotInTime                   503 not_in_time           no replica would keep the deadline or the promise
│   ├── Shed                        503 shed                  its tier gives way as the fleet fills
│   ├── StoreUnavailable            503 store_unavailable     a store that must answer does not, and limits fail closed
│   ├── Draining                    503 draining
│   ├── DeadlineExceeded            504 deadline_exceeded
│   └── InternalError               500 internal_error
├── EngineError                     a replica failed
│   ├── EngineUnavailable           503 engine_unavailable
│   │   └── EnginesFull             503 engines_full          they hold what they may; waiting helps
│   ├── EngineStalled               504 engine_stalled
│   ├── EngineBroke                 502 engine_broke          closed or reset in the middle of an answer
│   ├── EngineGarbage               502 engine_garbage        bytes that are not the promised protocol
│   ├── AdapterUnavailable          503 adapter_unavailable   a LoRA adapter that a replica could not be given
│   └── EngineRefused               the engine's own status   its error, in our shape
└── OperatorError                   whoever runs Heterodyne must act; a line and an exit code in the CLI
    ├── SettingsInvalid             settings_invalid
    ├── PortInUse                   port_in_use
    ├── WeightsUnavailable          weights_unavailable
    ├── WeightsCorrupt              weights_corrupt
    ├── UnknownName                 unknown_name
    ├── InvalidSpec                 invalid_spec
    ├── PlanImpossible              plan_impossible
    ├── StoreInvalid                store_invalid
    └── AuditBroken                 audit_broken

A class answers four questions beside its name: code, HTTP status, worth a retry, whose turn it is to act.
"""

from enum import StrEnum
from typing import ClassVar

from heterodyne.domain.url_secrets import without_secrets


class Turn(StrEnum):
    """Who has to act before the same request can succeed."""

    CALLER = "caller"
    OPERATOR = "operator"
    ENGINE = "engine"
    NOBODY = "nobody"  # waiting is enough


class HeterodyneError(Exception):
    """Something Heterodyne can name; `str(error)` is safe to show to the caller."""

    code: ClassVar[str] = "internal_error"
    status: int = 500
    retryable: ClassVar[bool] = False
    turn: ClassVar[Turn] = Turn.OPERATOR
    openai_type: ClassVar[str] = "server_error"

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: int | None = None) -> None:
        self.message = without_secrets(message)
        super().__init__(self.message)
        self.param = param
        self.retry_after_s = retry_after_s


class CallerError(HeterodyneError):
    """The request itself must change."""

    code = "invalid_request"
    status = 400
    turn = Turn.CALLER
    openai_type = "invalid_request_error"


class MalformedHttp(CallerError):
    """Bytes that are not one unambiguous HTTP/1.1 request."""

    code = "malformed_http"


class MalformedJson(CallerError):
    """A body that is not JSON."""

    code = "invalid_json"


class InvalidField(CallerError):
    """A field of the wrong type or outside its range; `param` is its path."""

    code = "invalid_value"


class ContextExceeded(CallerError):
    """Prompt and output together do not fit the model's context."""

    code = "context_length_exceeded"


class Unauthenticated(CallerError):
    """No key, or a key nobody issued."""

    code = "invalid_api_key"
    status = 401
    openai_type = "authentication_error"


class NotAllowed(CallerError):
    """The key is good, and not for this: another model, endpoint, class, region or size."""

    code = "not_allowed"
    status = 403
    openai_type = "permission_error"


class UnknownModel(CallerError):
    """A model name that no pool serves."""

    code = "model_not_found"
    status = 404


class UnknownPath(CallerError):
    """A path that is not part of the API."""

    code = "unknown_path"
    status = 404


class MethodNotAllowed(CallerError):
    """A known path asked with the wrong method."""

    code = "method_not_allowed"
    status = 405

    def __init__(self, message: str, *, allow: str) -> None:
        super().__init__(message)
        self.allow = allow


class RequestTooSlow(CallerError):
    """The head or the body did not arrive in time."""

    code = "request_timeout"
    status = 408
    retryable = True


class BodyTooLarge(CallerError):
    """The body is over the limit."""

    code = "body_too_large"
    status = 413


class UnsupportedMediaType(CallerError):
    """The body is declared as something other than plain JSON."""

    code = "unsupported_media_type"
    status = 415


class UnknownHost(CallerError):
    """The request was sent to a name that is not this gateway's."""

    code = "unknown_host"
    status = 421


class LimitReached(CallerError):
    """A key, its project or its organisation has used what it may for now; the message says which limit and when."""

    code = "rate_limit_exceeded"
    status = 429
    retryable = True
    openai_type = "rate_limit_error"


class BudgetSpent(LimitReached):
    """The dollars of a day or a month are spent."""

    code = "insufficient_quota"
    retryable = False


class HeadTooLarge(CallerError):
    """The request line or the headers are over the limit."""

    code = "head_too_large"
    status = 431


class ClientGone(CallerError):
    """The client closed its connection before the answer was complete."""

    code = "client_gone"
    status = 499


class GatewayError(HeterodyneError):
    """The gateway cannot take or finish the work."""


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


class EngineError(HeterodyneError):
    """A replica failed."""

    code = "engine_error"
    status = 502
    retryable = True
    turn = Turn.ENGINE


class EngineUnavailable(EngineError):
    """No replica of the model accepts work now."""

    code = "engine_unavailable"
    status = 503


class EnginesFull(EngineUnavailable):
    """Every replica of the model that could take the request holds as many as it may."""

    code = "engines_full"


class EngineStalled(EngineError):
    """A replica sent nothing for longer than it may."""

    code = "engine_stalled"
    status = 504


class EngineBroke(EngineError):
    """A replica closed its connection in the middle of an answer."""

    code = "engine_broke"


class EngineGarbage(EngineError):
    """A replica sent bytes that are not the protocol it promised."""

    code = "engine_garbage"


class AdapterUnavailable(EngineError):
    """A replica could not be given the LoRA adapter; the message has the engine's words. It says nothing else of it."""

    code = "adapter_unavailable"
    status = 503
    turn = Turn.OPERATOR


class EngineRefused(EngineError):
    """A replica answered with an error of its own; the status is the replica's."""

    code = "engine_refused"
    retryable = False

    def __init__(self, message: str, *, status: int, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message, param=param)
        self.status = status
        self.engine_code = code


class OperatorError(HeterodyneError):
    """Whoever runs Heterodyne must act."""

    turn = Turn.OPERATOR


class SettingsInvalid(OperatorError):
    """The settings have problems; the message lists them all."""

    code = "settings_invalid"


class PortInUse(OperatorError):
    """Something else listens on the address we were told to use."""

    code = "port_in_use"


class WeightsUnavailable(OperatorError):
    """Weights cannot be fetched from their source."""

    code = "weights_unavailable"
    retryable = True


class WeightsCorrupt(OperatorError):
    """Weights were fetched but their hash is not the declared one."""

    code = "weights_corrupt"


class UnknownName(OperatorError):
    """No chip or model of that name; the message has the nearest ones."""

    code = "unknown_name"


class InvalidSpec(OperatorError):
    """A model, a chip or a demand described by numbers that cannot be; the message has the path and the reason."""

    code = "invalid_spec"


class PlanImpossible(OperatorError):
    """No plan keeps every promise; the message says which one binds and what would relax it."""

    code = "plan_impossible"


class StoreInvalid(OperatorError):
    """A database that cannot be opened, is not ours, or was written by a newer version."""

    code = "store_invalid"


class AuditBroken(OperatorError):
    """The audit log was altered, or an entry is missing; the message says where."""

    code = "audit_broken"
