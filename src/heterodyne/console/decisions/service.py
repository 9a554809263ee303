"""What answers questions about routing decisions."""

from typing import Protocol

from heterodyne.domain.record import RequestRecord
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question


class DecisionService(Protocol):
    """Asks the workers, which made the decisions."""

    async def explain(self, question: Question) -> Explanation: ...

    async def decision(self, request_id: str) -> PastDecision: ...

    async def decisions(self, limit: int) -> tuple[RequestRecord, ...]: ...
