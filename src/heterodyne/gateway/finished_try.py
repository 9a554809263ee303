"""What the record and the trace have of one attempt."""

from msgspec import Struct

from heterodyne.domain.fleet import Replica


class Try(Struct, frozen=True, gc=False):
    """One attempt on one replica. Times are of the worker's own clock."""

    replica: Replica
    asked_at_s: float  # when a connection, or its adapter, was asked for
    sent_at_s: float  # 0: it was not
    ended_at_s: float
    status: int  # of its answer; 0: there was none
    outcome: str
    first_at_s: float = 0.0  # when its answer began; 0: it did not
    span_id: int = 0  # of its trace; 0: there is none
