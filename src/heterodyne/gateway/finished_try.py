"""What the record and the trace have of one attempt."""

from typing import final

from heterodyne.domain.fleet import Replica


@final
class Try:
    """One attempt on one replica. Times are of the worker's own clock."""

    __slots__ = ("asked_at_s", "ended_at_s", "first_at_s", "outcome", "replica", "sent_at_s", "span_id", "status")

    def __init__(
        self,
        replica: Replica,
        asked_at_s: float,
        sent_at_s: float,
        ended_at_s: float,
        *,
        status: int,
        outcome: str,
        first_at_s: float = 0.0,
        span_id: int = 0,
    ) -> None:
        self.replica = replica
        self.asked_at_s = asked_at_s  # when a connection, or its adapter, was asked for
        self.sent_at_s = sent_at_s  # 0: it was not
        self.ended_at_s = ended_at_s
        self.status = status  # of its answer; 0: there was none
        self.outcome = outcome
        self.first_at_s = first_at_s  # when its answer began; 0: it did not
        self.span_id = span_id  # of its trace; 0: there is none
