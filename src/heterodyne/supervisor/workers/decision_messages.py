"""What the supervisor asks a worker, and what the worker answers: one line of JSON each."""

from msgspec import Struct

from heterodyne.domain.errors import (
    CallerError,
    ContextExceeded,
    HeterodyneError,
    InternalError,
    InvalidField,
    UnknownModel,
    UnknownName,
)
from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.guards.hits import HitsAsked, HitsSeen
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question

LINE_BYTES_MAX = 8 << 20

# Errors that are the same on both sides of the socket.
KINDS: dict[str, type[HeterodyneError]] = {
    kind.code: kind for kind in (CallerError, ContextExceeded, InvalidField, UnknownModel, UnknownName)
}


class DecisionQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Exactly one of these."""

    explain: Question | None = None
    decision: str | None = None  # a request's id
    decisions: int | None = None  # the latest, so many
    hits: HitsAsked | None = None  # what policies have found since


class DecisionFailure(Struct, frozen=True, kw_only=True):
    """An error on its way through the socket."""

    code: str
    message: str
    param: str | None = None

    def as_error(self) -> HeterodyneError:
        """What was raised in the worker."""
        return KINDS.get(self.code, InternalError)(self.message, param=self.param)


class DecisionReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked for, or why there is none."""

    explain: Explanation | None = None
    decision: PastDecision | None = None
    decisions: tuple[RequestRecord, ...] | None = None
    hits: HitsSeen | None = None
    failure: DecisionFailure | None = None
