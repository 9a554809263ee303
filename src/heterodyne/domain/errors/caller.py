"""Errors of the caller: the request itself must change, or come later."""

from heterodyne.domain.errors.base import CallerError


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


class ContentBlocked(CallerError):
    """What was asked, or what was answered, holds something that a policy does not let pass; `param` is where."""

    code = "content_filter"


class Unauthenticated(CallerError):
    """No key, or a key nobody issued."""

    code = "invalid_api_key"
    status = 401
    openai_type = "authentication_error"


class TokenRefused(Unauthenticated):
    """A token of another issuer that does not open; `reason` is a word for metrics."""

    code = "invalid_token"

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class NotAllowed(CallerError):
    """The key is good, and not for this: another model, endpoint, class, region or size."""

    code = "not_allowed"
    status = 403
    openai_type = "permission_error"


class KeyBlocked(NotAllowed):
    """The key is blocked for a time: a policy takes its use for abuse; the message says until when."""

    code = "key_blocked"


class UnknownModel(CallerError):
    """A model name that no pool serves."""

    code = "model_not_found"
    status = 404


class UnknownObject(CallerError):
    """A response, a conversation or the like that is not there: never kept, deleted, expired, or another project's."""

    code = "object_not_found"
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


class NotCached(CallerError):
    """The caller wants an answer that is kept and no other (`only-if-cached`), and there is none."""

    code = "not_cached"
    status = 504


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


class SlowedDown(LimitReached):
    """The key is slowed down for a time: a policy takes its use for abuse; the message says until when."""

    code = "slowed_down"


class HeadTooLarge(CallerError):
    """The request line or the headers are over the limit."""

    code = "head_too_large"
    status = 431


class ClientGone(CallerError):
    """The client closed its connection before the answer was complete."""

    code = "client_gone"
    status = 499
