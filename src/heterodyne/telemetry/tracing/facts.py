"""What is known of a request that has ended, as far as its trace goes. Times are of the worker's own clock."""

from msgspec import Struct

from heterodyne.domain.fleet import Replica
from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.telemetry.tracing.sampling import SamplingReason


class TryFacts(Struct, frozen=True, kw_only=True, gc=False):
    """One attempt on one replica."""

    span_id: int
    replica: Replica
    asked_at_s: float
    sent_at_s: float  # 0: it was not
    first_at_s: float  # of its answer; 0: none came
    ended_at_s: float
    status: int  # 0: there was no answer
    outcome: str


class RequestFacts(Struct, frozen=True, kw_only=True, gc=False):
    """One request, however it ended."""

    trace: Trace
    kept: SamplingReason
    record: RequestRecord
    epoch_ns: int  # when the worker's clock stood at zero
    arrived_at_s: float
    ended_at_s: float
    first_at_s: float = 0.0  # what the client waited for: the first token; 0: nothing
    wait_began_at_s: float = 0.0
    waited_s: float = 0.0  # for its turn; 0: it did not
    tries: tuple[TryFacts, ...] = ()
    operation: str = ""  # empty: it was not found out
    method: str = ""  # of HTTP, where nothing else was found out
    route: str = ""  # empty: none, or not found out
    output_tokens_max: int | None = None  # None: the client set no limit
    server_host: str = ""
    server_port: int = 0
