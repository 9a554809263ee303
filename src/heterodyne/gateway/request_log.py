"""What is written down of requests: the record, and from it metrics, books, the audit log, traces and what is learned.

The next request waits while one ends, so an end leaves facts alone; many at a time become records.
"""

from collections.abc import Callable
from typing import Final

from heterodyne.admission.event_tokens import EventTokens
from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.abuse.sign_recorder import SignRecorder
from heterodyne.gateway.arm_tallies import ArmTallies
from heterodyne.gateway.audit_recorder import AuditRecorder
from heterodyne.gateway.cascade_costs import count_ended
from heterodyne.gateway.decision_log import Decided, DecisionLog, is_unusual
from heterodyne.gateway.demand_tally import DemandTally
from heterodyne.gateway.ended import ended_of
from heterodyne.gateway.finished import Finished, count_usage, end_hold, settle_cache
from heterodyne.gateway.kv_tally import KvTally
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.shadow_sampler import ShadowSampler
from heterodyne.gateway.tracer import Tracer
from heterodyne.gateway.usage_recorder import UsageRecorder
from heterodyne.ports.records import RecordSink
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import log
from heterodyne.telemetry.request_meters import RequestMeters

_log = log.get("gateway")

FINISHED_MAX: Final = 16  # that wait to be written down, in one turn of the loop; the server's tick may come before
FINISHED_BYTES_MAX: Final = 1 << 20


class RequestLog:
    """One per worker."""

    def __init__(
        self,
        records: RecordSink,
        request_builder: RoutingRequestBuilder,
        *,
        decisions_kept: int,
        usage_recorder: UsageRecorder | None = None,
        audit_recorder: AuditRecorder | None = None,
        tracer: Tracer | None = None,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self._records = records
        self.request_builder = request_builder
        self.tokens = request_builder.tokens
        self._usage_recorder = usage_recorder
        self._audit_recorder = audit_recorder
        self.is_audited = audit_recorder is not None
        self._tracer = tracer
        self._is_recorded = not records.is_off or audit_recorder is not None or tracer is not None
        self._clock = clock
        self._wall_clock = wall_clock
        self.event_tokens = EventTokens()
        self._finished: list[Finished] = []
        self._finished_bytes = 0  # of their requests, and of answers that are kept to be read
        self._meters = RequestMeters()
        self.decisions = DecisionLog(decisions_kept)
        self.arms = ArmTallies()
        self.shadow = ShadowSampler(clock)
        self.abuse: SignRecorder | None = None  # None: no policy looks for it
        self.demand: DemandTally | None = None  # None: no pool grows and shrinks
        self.kv: KvTally | None = None  # None: no prompt is looked at

    @property
    def keeps_answers(self) -> bool:
        """Whether what clients were sent is kept until it is written down."""
        return self.is_audited or bool(self.arms.splits)

    @property
    def has_books(self) -> bool:
        """Whether the books have what is in flight."""
        return self._usage_recorder is not None

    @property
    def slots_open(self) -> int:
        """Slots of the books that no record has closed."""
        return 0 if self._usage_recorder is None else self._usage_recorder.open

    def check(self) -> None:
        """Raise where a request could not be audited, and the settings say that none passes without."""
        if self._audit_recorder is not None:
            self._audit_recorder.check()

    def place(
        self,
        request: Request,
        routing_request: RoutingRequest,
        caller: Caller,
        forecast: Forecast,
        *,
        started_at_s: float,
        slot: FlightSlot | None,
    ) -> FlightSlot:
        """Write down in the books where it is sent, so that they have it even if this worker dies."""
        assert self._usage_recorder is not None
        at = self._wall_clock() - (self._clock() - started_at_s)
        return self._usage_recorder.place(request, routing_request, caller, forecast, at=at, slot=slot)

    def refused(self, record: RequestRecord, caller: Caller | None, urgency: Urgency, body: bytes) -> None:
        """Write down a request that no replica was asked for; of unknown callers there is only a line in the log."""
        self._meters.refused(record)
        self._records.write((record,))
        if self.demand is not None and caller is not None:
            self.demand.refused(record)
        if caller is not None and self._usage_recorder is not None:
            self._usage_recorder.refused(record, caller, urgency)
        if caller is not None and self._audit_recorder is not None:
            self._audit_recorder.refused(record, caller, body)

    def finished(self, finished: Finished) -> None:
        """A request has ended: settle what it held now, write it down soon."""
        count_usage(finished, self.event_tokens)
        if finished.hold.is_counted:
            end_hold(finished)
        if finished.request.cache is not None:
            settle_cache(finished)
        self._finished.append(finished)
        self._finished_bytes += len(finished.request.body)
        if finished.answer:
            self._finished_bytes += finished.response_bytes
        if self._finished_bytes > FINISHED_BYTES_MAX or len(self._finished) >= FINISHED_MAX:
            self.write_down()

    def write_down(self) -> None:
        """Make records of what has ended, and learn from it."""
        several, self._finished, self._finished_bytes = self._finished, [], 0
        now_s = self._clock()
        epoch_s = self._wall_clock() - now_s
        records: list[RequestRecord] = []
        for finished in several:
            try:
                self._write_down(finished, ended_of(finished, epoch_s), records, now_s)
            except Exception as error:  # noqa: BLE001  # the root of a record: our mistake must not cost others theirs
                _log.error("record_failed", request_id=finished.request.id, exc_info=error)
        if records:
            try:
                self._records.write(records)
            except Exception as error:  # noqa: BLE001  # as above
                _log.error("records_failed", records=len(records), exc_info=error)

    def _write_down(self, finished: Finished, ended: EndedRequest, records: list[RequestRecord], now_s: float) -> None:
        request, routing_request, choice = finished.request, finished.routing_request, finished.choice
        if finished.slot is not None and self._usage_recorder is not None:
            self._usage_recorder.close(finished.slot, ended)  # before all that could fail: an open slot is lost
        elif finished.wire is None and ended.pool and self._usage_recorder is not None:
            self._usage_recorder.ready(ended, finished.hold.caller, routing_request.urgency)
        self._meters.observe(ended)
        if request.cascade:
            count_ended(request, ended)
        if self.arms.splits:
            self.arms.observe(finished, ended)
        if self.shadow.splits:
            self.shadow.offer(finished, ended)
        if self.abuse is not None:
            self.abuse.ended(finished, ended)
        if self.demand is not None:
            self.demand.ended(finished, ended)
        if self.kv is not None:
            self.kv.ended(finished, ended, now_s)
        self._learn(finished, ended)
        if choice is not None and (is_unusual(ended) or self.decisions.has_room(now_s)):
            self.decisions.add(Decided(ended.id, routing_request, choice, ended))
        if self._is_recorded:
            record = ended.record()
            records.append(record)
            if self._audit_recorder is not None:
                self._audit_recorder.finished(finished, record)
            if self._tracer is not None:
                self._tracer.finished(finished, record)

    def _learn(self, finished: Finished, ended: EndedRequest) -> None:
        """What its end says of prompts, answers and events to come."""
        request, routing_request = finished.request, finished.routing_request
        if not ended.is_estimated:
            self.tokens.learn(ended.model, request.prompt_chars, ended.prompt_tokens, routing_request.tenant)
        if not ended.reason:
            self.request_builder.learn(request, routing_request, ended.completion_tokens)
            is_counted = ended.stream and not ended.is_estimated and not ended.continuations
            if is_counted and finished.wire is not None and request.guard is None:  # policies join events
                self.event_tokens.learn(finished.wire.pool, finished.events, ended.completion_tokens)
