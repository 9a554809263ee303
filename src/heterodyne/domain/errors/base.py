"""What every error has, and the four branches of the tree."""

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


class GatewayError(HeterodyneError):
    """The gateway cannot take or finish the work."""


class EngineError(HeterodyneError):
    """A replica failed."""

    code = "engine_error"
    status = 502
    retryable = True
    turn = Turn.ENGINE


class OperatorError(HeterodyneError):
    """Whoever runs Heterodyne must act."""

    turn = Turn.OPERATOR
