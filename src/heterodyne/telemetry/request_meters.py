"""Counts one request that has ended, however it did, in every metric that speaks of requests.

The tallies of requests that have everything in common are looked up once and kept, so a request costs one look-up and a
few additions.
"""

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.outcome import outcome_of
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Urgency
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import LABEL_SETS_MAX
from heterodyne.telemetry.tallies import CountTally

_Key = tuple[str, str, str, str, str, str, int, str, str, str]


class _Tallies:
    """Of one key, in every metric."""

    __slots__ = (
        "cached",
        "completion",
        "connect",
        "decision",
        "itl",
        "lengths",
        "outcome",
        "overhead",
        "prediction",
        "promise",
        "prompt",
        "queue",
        "replica",
        "total",
        "ttft",
        "usd",
    )

    def __init__(self, key: _Key) -> None:
        model, pool, hardware, urgency, tier, operation, status, reason, decision, promise = key
        client = (model, pool, hardware, urgency or Urgency.INTERACTIVE.value, tier)
        labels = (*client, operation)
        self.outcome = metrics.requests.tally((*labels, str(status), reason, outcome_of(status, reason)))
        self.decision: CountTally | None = metrics.decisions.tally((model, pool, decision)) if decision else None
        self.promise: CountTally | None = metrics.slo_outcomes.tally((*client, promise)) if promise else None
        self.overhead = metrics.overhead.tally((model, pool))
        self.total = metrics.duration.tally(labels)
        self.ttft = metrics.ttft.tally(labels)
        self.prediction = metrics.ttft_prediction.tally((pool,))
        self.itl = metrics.itl.tally(labels)
        self.connect = metrics.connect.tally((pool,))
        self.queue = metrics.queue.tally(labels)
        self.lengths = metrics.completion_length.tally(labels)
        self.prompt = metrics.prompt_tokens.tally(labels)
        self.cached = metrics.cached_tokens.tally(labels)
        self.completion = metrics.completion_tokens.tally(labels)
        self.usd = metrics.usd.tally(client)
        self.replica = metrics.replica_seconds.tally((model, pool, hardware))

    def count(self, ended: EndedRequest) -> None:
        """Add one request, its times aside."""
        self.outcome.add(1.0)
        if self.decision is not None:
            self.decision.add(1.0)
        if self.promise is not None:
            self.promise.add(1.0)
        self.prompt.add(ended.prompt_tokens)
        self.cached.add(ended.cached_tokens)
        if tokens := ended.completion_tokens:
            self.completion.add(tokens)
            self.lengths.add(tokens)
        if ended.usd is not None:
            self.usd.add(ended.usd)
        self.replica.add(ended.replica_s)

    def observe_times(self, ended: EndedRequest) -> None:
        """Add its times."""
        if self.decision is not None:
            self.overhead.add(ended.overhead_ms / 1000)
        self.total.add(ended.total_ms / 1000)
        if (ttft_ms := ended.ttft_ms) is not None:
            self.ttft.add(ttft_ms / 1000)
            predicted_ms = ended.predicted_ttft_ms
            if predicted_ms and not ended.retries:
                self.prediction.add(ttft_ms / predicted_ms)
        if (itl_ms := ended.itl_ms) is not None:
            self.itl.add(itl_ms / 1000)
        if (connect_ms := ended.connect_ms) is not None:
            self.connect.add(connect_ms / 1000)
        if (queue_ms := ended.queue_ms) is not None:
            self.queue.add(queue_ms / 1000)


class RequestMeters:
    """One per worker."""

    def __init__(self) -> None:
        self._tallies: dict[_Key, _Tallies] = {}

    def observe(self, ended: EndedRequest) -> None:
        """Add one finished request."""
        # fmt: off
        key = (
            ended.model, ended.pool, ended.hardware, ended.urgency, ended.tier, ended.operation,
            ended.status, ended.reason, ended.decision, ended.promise,
        )
        # fmt: on
        tallies = self._tallies.get(key)
        if tallies is None:
            tallies = self._add_tallies(key)
        tallies.count(ended)
        tallies.observe_times(ended)

    def _add_tallies(self, key: _Key) -> _Tallies:
        if len(self._tallies) >= LABEL_SETS_MAX:
            self._tallies.clear()
        tallies = self._tallies[key] = _Tallies(key)
        return tallies

    def refused(self, record: RequestRecord) -> None:
        """Add one that no replica was asked for. It took no time and no tokens, so no histogram has it."""
        urgency = record.urgency or Urgency.INTERACTIVE.value
        labels = (record.model, "", "", urgency, record.tier, record.operation)
        metrics.requests.add((*labels, str(record.status), record.reason, outcome_of(record.status, record.reason)))
