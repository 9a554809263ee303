"""Makes a trace of every request that deserves one, of what is known at its end."""

from collections.abc import Callable, Mapping

from msgspec import structs

from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.gateway.finished import Finished
from heterodyne.telemetry import metrics
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.telemetry.tracing import context
from heterodyne.telemetry.tracing.context import Hop, RandomBits, Trace
from heterodyne.telemetry.tracing.facts import RequestFacts, TryFacts
from heterodyne.telemetry.tracing.sampling import Rate, Ratio, SamplingReason, sampling_reason
from heterodyne.telemetry.tracing.span import Span
from heterodyne.telemetry.tracing.spans import spans_of

OVER_RATE = ("rate",)
NO_HEADERS: Mapping[bytes, bytes] = {}


class Tracer:
    """One per worker; where there is none, nobody is traced."""

    def __init__(
        self,
        settings: TelemetrySettings,
        add: Callable[[tuple[Span, ...]], None],
        *,
        host: str,
        port: int,
        bits: RandomBits,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self._add = add
        self._host = host
        self._port = port
        self._bits = bits
        self._clock = clock
        self._wall_clock = wall_clock
        self._is_sampled = Ratio(settings.traces_sample_ratio).is_sampled
        self._slow_s = settings.traces_slow_ms / 1000
        self._rate = Rate(settings.traces_per_second_max, clock())

    def begin(self, headers: Mapping[bytes, bytes]) -> Trace:
        """The trace of a request with these headers."""
        return context.begin(headers, self._bits, self._is_sampled)

    def hop(self, trace: Trace) -> Hop:
        """The next attempt's place in it."""
        return context.hop(trace, self._bits)

    def finished(self, finished: Finished, record: RequestRecord) -> None:
        """A request that replicas were asked for has ended."""
        hold = finished.hold
        trace = finished.trace
        assert trace is not None
        kept = sampling_reason(
            is_sampled=trace.is_sampled,
            status=finished.status,
            reason=finished.reason,
            outcomes=(one.outcome for one in finished.tries),
            first_s=(finished.first_token_at_s or finished.ended_at_s) - hold.arrived_s,
            slow_s=self._slow_s,
        )
        if kept is None or not self._has_room():
            return
        request = finished.request
        facts = RequestFacts(
            trace=trace,
            kept=kept,
            record=record,
            epoch_ns=self._epoch_ns(),
            arrived_at_s=hold.arrived_s,
            ended_at_s=finished.ended_at_s,
            first_at_s=finished.first_token_at_s,
            wait_began_at_s=finished.started_at_s - hold.queued_s,
            waited_s=hold.queued_s,
            tries=tuple(_facts_of(finished)),
            operation=request.operation,
            output_tokens_max=request.output_tokens_max,
            server_host=self._host,
            server_port=self._port,
        )
        self._add(spans_of(facts, self._bits))

    def refused(
        self, trace: Trace, record: RequestRecord, request: Request, *, arrived_s: float, queued_s: float
    ) -> RequestRecord:
        """The record of a request that was understood and never started, with its trace."""
        record = structs.replace(record, trace=trace.name)
        now_s = self._clock()
        kept = self._why_kept(trace, record, now_s - arrived_s)
        if kept is not None:
            facts = RequestFacts(
                trace=trace,
                kept=kept,
                record=record,
                epoch_ns=self._epoch_ns(),
                arrived_at_s=arrived_s,
                ended_at_s=now_s,
                wait_began_at_s=now_s - queued_s,
                waited_s=queued_s,
                operation=request.operation,
                output_tokens_max=request.output_tokens_max,
                server_host=self._host,
                server_port=self._port,
            )
            self._add(spans_of(facts, self._bits))
        return record

    def turned_away(
        self, record: RequestRecord, headers: Mapping[bytes, bytes], *, method: str, route: str, is_stranger: bool
    ) -> RequestRecord:
        """The record of a request that was not understood, with its trace; strangers cannot have theirs kept."""
        trace = self.begin(NO_HEADERS if is_stranger else headers)
        record = structs.replace(record, trace=trace.name)
        kept = self._why_kept(trace, record, 0.0)
        if kept is not None:
            now_s = self._clock()
            facts = RequestFacts(
                trace=trace,
                kept=kept,
                record=record,
                epoch_ns=self._epoch_ns(),
                arrived_at_s=now_s,
                ended_at_s=now_s,
                method=method,
                route=route,
                server_host=self._host,
                server_port=self._port,
            )
            self._add(spans_of(facts, self._bits))
        return record

    def _why_kept(self, trace: Trace, record: RequestRecord, first_s: float) -> SamplingReason | None:
        kept = sampling_reason(
            is_sampled=trace.is_sampled,
            status=record.status,
            reason=record.reason,
            outcomes=(),
            first_s=first_s,
            slow_s=self._slow_s,
        )
        return kept if kept is not None and self._has_room() else None

    def _has_room(self) -> bool:
        if self._rate.try_take(self._clock()):
            return True
        metrics.spans_dropped.add(OVER_RATE)
        return False

    def _epoch_ns(self) -> int:
        return round((self._wall_clock() - self._clock()) * 1e9)


def _facts_of(finished: Finished) -> list[TryFacts]:
    return [
        TryFacts(
            span_id=one.span_id,
            replica=one.replica,
            asked_at_s=one.asked_at_s,
            sent_at_s=one.sent_at_s,
            first_at_s=one.first_at_s,
            ended_at_s=one.ended_at_s,
            status=one.status,
            outcome=one.outcome,
        )
        for one in finished.tries
    ]
