"""What an operator may ask about decisions, and whoever can answer."""

from typing import Protocol

from msgspec import Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.record import RequestRecord
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question

LIMIT_DEFAULT = 20
LIMIT_MAX = 1000


class DecisionPage(Struct, frozen=True, kw_only=True):
    """How the latest requests were placed and fared, the newest first."""

    decisions: tuple[RequestRecord, ...]


class DecisionService(Protocol):
    """Whoever can ask the workers."""

    async def explain(self, question: Question) -> Explanation: ...

    async def decision(self, request_id: str) -> PastDecision: ...

    async def decisions(self, limit: int) -> tuple[RequestRecord, ...]: ...


def read_limit(text: str | None) -> int:
    """How many decisions to show, from a query."""
    if text is None:
        return LIMIT_DEFAULT
    if not text.isascii() or not text.isdigit() or len(text) > len(str(LIMIT_MAX)) or not 1 <= int(text) <= LIMIT_MAX:
        raise InvalidField(f"limit: a whole number from 1 to {LIMIT_MAX} is expected.", param="limit")
    return int(text)
