"""What every exchange of one worker shares: the fleet, the house, the connections, the books."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from heterodyne.admission.callers import CallerRing
from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.event_tokens import EventTokens
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.domain.fleet import FleetSnapshot, ReplicaId
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.audit_recorder import AuditRecorder
from heterodyne.gateway.decider import Decider
from heterodyne.gateway.decision_log import DecisionLog, decided
from heterodyne.gateway.finished import Finished, record_of
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.render import DateHeader
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.tracer import Tracer
from heterodyne.gateway.usage_recorder import UsageRecorder
from heterodyne.ports.adapters import Adapters
from heterodyne.ports.records import RecordSink
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.router import Router
from heterodyne.telemetry import log
from heterodyne.telemetry.request_meters import RequestMeters
from heterodyne.wire.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from heterodyne.gateway.exchange import Exchange

_log = log.get("gateway")

FINISHED_MAX, FINISHED_BYTES_MAX = 256, 1 << 20  # that wait to be written down; the server's tick may come before


class Backstage:
    """One per worker."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        callers: CallerRing,
        fleet: FleetView,
        decider: Decider,
        router: Router,
        concurrency_limit: ConcurrencyLimit,
        pool: ConnectionPool,
        adapters: Adapters,
        records: RecordSink,
        offload: Offload,
        tokens: TokenEstimator,
        usage_recorder: UsageRecorder | None = None,
        audit_recorder: AuditRecorder | None = None,
        tracer: Tracer | None = None,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self.settings = settings
        self.callers = callers
        self.fleet = fleet
        self.decider = decider
        self.router = router
        self.concurrency_limit = concurrency_limit
        self.pool = pool
        self.adapters = adapters
        self.offload = offload
        self.tokens = tokens
        self.event_tokens = EventTokens()
        self.usage_recorder = usage_recorder
        self.audit_recorder = audit_recorder
        self.tracer = tracer
        self.clock = clock
        self.wall_clock = wall_clock
        self.exchanges: set[Exchange] = set()
        self._records = records
        self.on_leave: Callable[[str], None] = _no_waiter  # told the model of a request that has ended
        self._finished: list[Finished] = []
        self._finished_bytes = 0  # of their requests, and of answers that are kept to be audited
        self._meters = RequestMeters()
        self._date_header = DateHeader()
        self.decisions = DecisionLog(settings.decisions_kept)
        self.request_builder = RoutingRequestBuilder(tokens)
        self.publish(fleet.snapshot)

    def identity(self, request_id: str) -> bytes:
        """The headers by which an answer can be traced."""
        encoded = request_id.encode()
        return b"x-request-id: %b\r\nx-heterodyne-request-id: %b\r\n%b" % (
            encoded,
            encoded,
            self._date_header.at(self.wall_clock()),
        )

    @property
    def fleet_health(self) -> FleetHealth:
        """How the replicas stand; replaced where the rules of standing change."""
        return self.decider.fleet_health

    def enter(self, exchange: "Exchange") -> None:
        """A request is being answered."""
        self.exchanges.add(exchange)
        self.concurrency_limit.enter()

    def leave(self, exchange: "Exchange", model: str) -> None:
        """It no longer is; somebody may have waited for its place."""
        self.exchanges.discard(exchange)
        self.concurrency_limit.leave()
        self.on_leave(model)

    def publish(self, snapshot: FleetSnapshot) -> None:
        """A newer fleet."""
        self.fleet.publish(snapshot)
        now_s = self.clock()
        self.fleet_health.publish(snapshot, now_s)
        self.router.publish(snapshot, now_s)
        self.adapters.publish(snapshot)

    def on_probe(self, replica: ReplicaId, now_s: float) -> None:
        """A health probe found the replica ready."""
        self.fleet_health.on_probe(replica, now_s)

    def trim_kept(self) -> None:
        """Hold what is remembered for continuations within its bound: the longest answers are let go first."""
        keeping = [(one.kept_bytes, one) for one in self.exchanges]
        over = sum(size for size, _ in keeping) - self.settings.continuation_bytes_max
        if over > 0:
            for size, exchange in sorted(keeping, key=lambda pair: -pair[0]):
                exchange.forget_kept()
                over -= size
                if over <= 0:
                    return

    def refused(self, record: RequestRecord, caller: Caller | None, urgency: Urgency, body: bytes) -> None:
        """Write down a request that no replica was asked for; of strangers there is only a line in the log."""
        self._meters.refused(record)
        self._records.write(record)
        if caller is not None and self.usage_recorder is not None:
            self.usage_recorder.refused(record, caller, urgency)
        if caller is not None and self.audit_recorder is not None:
            self.audit_recorder.refused(record, caller, body)

    def finished(self, finished: Finished) -> None:
        """A request has ended; it is written down soon."""
        self._finished.append(finished)
        self._finished_bytes += len(finished.request.body)
        if finished.answer:
            self._finished_bytes += finished.response_bytes
        if self._finished_bytes > FINISHED_BYTES_MAX or len(self._finished) >= FINISHED_MAX:
            self.write_down()

    def write_down(self) -> None:
        """Make records of what has ended, and learn from it."""
        several, self._finished, self._finished_bytes = self._finished, [], 0
        epoch_s = self.wall_clock() - self.clock()
        for finished in several:
            try:
                self._write_down(finished, record_of(finished, epoch_s))
            except Exception as error:  # noqa: BLE001  # the root of a record: our mistake must not cost others theirs
                _log.error("record_failed", request_id=finished.request.id, exc_info=error)

    def _write_down(self, finished: Finished, record: RequestRecord) -> None:
        request, routing_request, choice, slot = (
            finished.request,
            finished.routing_request,
            finished.choice,
            finished.hold.slot,
        )
        if slot is not None and self.usage_recorder is not None:
            self.usage_recorder.close(slot, record)  # before anybody who could fail: a slot that stays open is lost
        self._meters.observe(record)
        if not record.is_estimated:
            self.tokens.learn(record.model, request.prompt_chars, record.prompt_tokens, routing_request.tenant)
        if not record.reason:
            self.request_builder.learn(request, routing_request, record.completion_tokens)
            if record.stream and not record.is_estimated and finished.replica is not None and not record.continuations:
                self.event_tokens.learn(finished.replica.pool, finished.events, record.completion_tokens)
        if choice is not None:
            self.decisions.add(decided(record.id, routing_request, choice, record))
        self._records.write(record)
        if self.audit_recorder is not None:
            self.audit_recorder.finished(finished, record)
        if self.tracer is not None:
            self.tracer.finished(finished, record)


def _no_waiter(_: str) -> None:
    """Until somebody does."""
