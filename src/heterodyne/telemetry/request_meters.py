"""Counts one request that has ended, however it did, in every metric that speaks of requests.

The cells of requests that have everything in common are looked up once and kept, so a request costs one look-up and a
few additions; the code is flat because calls would cost more than what they do.
"""

from bisect import bisect_left
from typing import Final

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.outcome import outcome_of
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Urgency
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import LABEL_SETS_MAX

SECONDS: Final[tuple[float, ...]] = metrics.SECONDS
ITL: Final[tuple[float, ...]] = metrics.ITL_SECONDS
OVERHEAD: Final[tuple[float, ...]] = metrics.OVERHEAD_SECONDS
CONNECT: Final[tuple[float, ...]] = metrics.CONNECT_SECONDS
RATIOS: Final[tuple[float, ...]] = metrics.RATIOS
TOKENS: Final[tuple[int, ...]] = tuple(map(int, metrics.TOKENS))  # whole numbers are found faster among their like
# Where a histogram's cell has its sum. The interpreter has a short cut for places that are counted from the front.
SECONDS_SUM: Final = len(SECONDS) + 1
ITL_SUM: Final = len(ITL) + 1
OVERHEAD_SUM: Final = len(OVERHEAD) + 1
CONNECT_SUM: Final = len(CONNECT) + 1
RATIOS_SUM: Final = len(RATIOS) + 1
TOKENS_SUM: Final = len(TOKENS) + 1

_Key = tuple[str, str, str, str, str, str, int, str, str, str]
_Cell = list[float]


class _Cells:
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
        self.outcome: _Cell = metrics.requests.cell((*labels, str(status), reason, outcome_of(status, reason)))
        self.decision: _Cell | None = metrics.decisions.cell((model, pool, decision)) if decision else None
        self.promise: _Cell | None = metrics.slo_outcomes.cell((*client, promise)) if promise else None
        self.overhead: _Cell = metrics.overhead.cell((model, pool))
        self.total: _Cell = metrics.duration.cell(labels)
        self.ttft: _Cell = metrics.ttft.cell(labels)
        self.prediction: _Cell = metrics.ttft_prediction.cell((pool,))
        self.itl: _Cell = metrics.itl.cell(labels)
        self.connect: _Cell = metrics.connect.cell((pool,))
        self.queue: _Cell = metrics.queue.cell(labels)
        self.lengths: _Cell = metrics.completion_length.cell(labels)
        self.prompt: _Cell = metrics.prompt_tokens.cell(labels)
        self.cached: _Cell = metrics.cached_tokens.cell(labels)
        self.completion: _Cell = metrics.completion_tokens.cell(labels)
        self.usd: _Cell = metrics.usd.cell(client)
        self.replica: _Cell = metrics.replica_seconds.cell((model, pool, hardware))

    def count(self, ended: EndedRequest) -> None:
        """Add one request, its times aside."""
        self.outcome[0] += 1.0
        if self.decision is not None:
            self.decision[0] += 1.0
        if self.promise is not None:
            self.promise[0] += 1.0
        self.prompt[0] += ended.prompt_tokens
        self.cached[0] += ended.cached_tokens
        if tokens := ended.completion_tokens:
            self.completion[0] += tokens
            self.lengths[bisect_left(TOKENS, tokens)] += 1.0
            self.lengths[TOKENS_SUM] += tokens
        if ended.usd is not None:
            self.usd[0] += ended.usd
        self.replica[0] += ended.replica_s

    def observe_times(self, ended: EndedRequest) -> None:
        """Add its times."""
        if self.decision is not None:
            seconds = ended.overhead_ms / 1000
            self.overhead[bisect_left(OVERHEAD, seconds)] += 1.0
            self.overhead[OVERHEAD_SUM] += seconds
        seconds = ended.total_ms / 1000
        self.total[bisect_left(SECONDS, seconds)] += 1.0
        self.total[SECONDS_SUM] += seconds
        if (ttft_ms := ended.ttft_ms) is not None:
            seconds = ttft_ms / 1000
            self.ttft[bisect_left(SECONDS, seconds)] += 1.0
            self.ttft[SECONDS_SUM] += seconds
            predicted_ms = ended.predicted_ttft_ms
            if predicted_ms and not ended.retries:
                ratio = ttft_ms / predicted_ms
                self.prediction[bisect_left(RATIOS, ratio)] += 1.0
                self.prediction[RATIOS_SUM] += ratio
        if (itl_ms := ended.itl_ms) is not None:
            seconds = itl_ms / 1000
            self.itl[bisect_left(ITL, seconds)] += 1.0
            self.itl[ITL_SUM] += seconds
        if (connect_ms := ended.connect_ms) is not None:
            seconds = connect_ms / 1000
            self.connect[bisect_left(CONNECT, seconds)] += 1.0
            self.connect[CONNECT_SUM] += seconds
        if (queue_ms := ended.queue_ms) is not None:
            seconds = queue_ms / 1000
            self.queue[bisect_left(SECONDS, seconds)] += 1.0
            self.queue[SECONDS_SUM] += seconds


class RequestMeters:
    """One per worker."""

    def __init__(self) -> None:
        self._cells: dict[_Key, _Cells] = {}

    def observe(self, ended: EndedRequest) -> None:
        """Add one finished request."""
        # fmt: off
        key = (
            ended.model, ended.pool, ended.hardware, ended.urgency, ended.tier, ended.operation,
            ended.status, ended.reason, ended.decision, ended.promise,
        )
        # fmt: on
        cells = self._cells.get(key)
        if cells is None:
            cells = self._add_cells(key)
        cells.count(ended)
        cells.observe_times(ended)

    def _add_cells(self, key: _Key) -> _Cells:
        if len(self._cells) >= LABEL_SETS_MAX:
            self._cells.clear()
        cells = self._cells[key] = _Cells(key)
        return cells

    def refused(self, record: RequestRecord) -> None:
        """Add one that no replica was asked for. It took no time and no tokens, so no histogram has it."""
        urgency = record.urgency or Urgency.INTERACTIVE.value
        labels = (record.model, "", "", urgency, record.tier, record.operation)
        metrics.requests.add((*labels, str(record.status), record.reason, outcome_of(record.status, record.reason)))
