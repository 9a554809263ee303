"""Counts one request that has ended, however it did, in every metric that speaks of requests.

The cells of requests that have everything in common are looked up once and kept, so a request costs one look-up and a
few additions; the code is flat because calls would cost more than what they do.
"""

from bisect import bisect_left

from heterodyne.domain.outcome import outcome_of
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Urgency
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import LABEL_SETS_MAX

SECONDS, ITL, OVERHEAD = metrics.SECONDS, metrics.ITL_SECONDS, metrics.OVERHEAD_SECONDS
CONNECT, RATIOS = metrics.CONNECT_SECONDS, metrics.RATIOS
TOKENS = tuple(map(int, metrics.TOKENS))  # whole numbers are found faster among their like
# Where a histogram's cell has its sum. The interpreter has a short cut for places that are counted from the front.
SECONDS_SUM, ITL_SUM, OVERHEAD_SUM = len(SECONDS) + 1, len(ITL) + 1, len(OVERHEAD) + 1
CONNECT_SUM, RATIOS_SUM, TOKENS_SUM = len(CONNECT) + 1, len(RATIOS) + 1, len(TOKENS) + 1

_Key = tuple[str, str, str, str, str, str, int, str, str, str]
_Cell = list[float]
_Cells = tuple[
    # outcome; decision and promise, where there was one
    _Cell,
    _Cell | None,
    _Cell | None,
    # histograms: overhead, total, TTFT, prediction, ITL, connect, queue, lengths
    _Cell,
    _Cell,
    _Cell,
    _Cell,
    _Cell,
    _Cell,
    _Cell,
    _Cell,
    # tokens of the prompt, of it cached, of the answer; dollars; the replica's time
    _Cell,
    _Cell,
    _Cell,
    _Cell,
    _Cell,
]


class RequestMeters:
    """One per worker."""

    def __init__(self) -> None:
        self._cells: dict[_Key, _Cells] = {}

    def observe(self, record: RequestRecord) -> None:
        """Add one finished request."""
        # fmt: off
        key = (
            record.model, record.pool, record.hardware, record.urgency, record.tier, record.operation,
            record.status, record.reason, record.decision, record.promise,
        )
        (
            outcome, decision, promise,
            overhead, total, ttft, prediction, itl, connect, queue, lengths,
            prompt, cached, completion, usd, replica,
        ) = self._cells.get(key) or self._add_cells(key)
        # fmt: on
        outcome[0] += 1.0
        if decision is not None:
            decision[0] += 1.0
            seconds = record.overhead_ms / 1000
            overhead[bisect_left(OVERHEAD, seconds)] += 1.0
            overhead[OVERHEAD_SUM] += seconds
        if promise is not None:
            promise[0] += 1.0
        seconds = record.total_ms / 1000
        total[bisect_left(SECONDS, seconds)] += 1.0
        total[SECONDS_SUM] += seconds
        if (ttft_ms := record.ttft_ms) is not None:
            seconds = ttft_ms / 1000
            ttft[bisect_left(SECONDS, seconds)] += 1.0
            ttft[SECONDS_SUM] += seconds
            predicted_ms = record.predicted_ttft_ms
            if predicted_ms and not record.retries:
                ratio = ttft_ms / predicted_ms
                prediction[bisect_left(RATIOS, ratio)] += 1.0
                prediction[RATIOS_SUM] += ratio
        if (itl_ms := record.itl_ms) is not None:
            seconds = itl_ms / 1000
            itl[bisect_left(ITL, seconds)] += 1.0
            itl[ITL_SUM] += seconds
        if (connect_ms := record.connect_ms) is not None:
            seconds = connect_ms / 1000
            connect[bisect_left(CONNECT, seconds)] += 1.0
            connect[CONNECT_SUM] += seconds
        if (queue_ms := record.queue_ms) is not None:
            seconds = queue_ms / 1000
            queue[bisect_left(SECONDS, seconds)] += 1.0
            queue[SECONDS_SUM] += seconds
        prompt[0] += record.prompt_tokens
        cached[0] += record.cached_tokens
        if tokens := record.completion_tokens:
            completion[0] += tokens
            lengths[bisect_left(TOKENS, tokens)] += 1.0
            lengths[TOKENS_SUM] += tokens
        if record.usd is not None:
            usd[0] += record.usd
        replica[0] += record.replica_s

    def _add_cells(self, key: _Key) -> _Cells:
        if len(self._cells) >= LABEL_SETS_MAX:
            self._cells.clear()
        cells = self._cells[key] = _find_cells(key)
        return cells

    def refused(self, record: RequestRecord) -> None:
        """Add one that no replica was asked for. It took no time and no tokens, so no histogram has it."""
        urgency = record.urgency or Urgency.INTERACTIVE.value
        labels = (record.model, "", "", urgency, record.tier, record.operation)
        metrics.requests.add((*labels, str(record.status), record.reason, outcome_of(record.status, record.reason)))


def _find_cells(key: _Key) -> _Cells:
    model, pool, hardware, urgency, tier, operation, status, reason, decision, promise = key
    client = (model, pool, hardware, urgency or Urgency.INTERACTIVE.value, tier)
    labels = (*client, operation)
    return (
        metrics.requests.cell((*labels, str(status), reason, outcome_of(status, reason))),
        metrics.decisions.cell((model, pool, decision)) if decision else None,
        metrics.slo_outcomes.cell((*client, promise)) if promise else None,
        metrics.overhead.cell((model, pool)),
        metrics.duration.cell(labels),
        metrics.ttft.cell(labels),
        metrics.ttft_prediction.cell((pool,)),
        metrics.itl.cell(labels),
        metrics.connect.cell((pool,)),
        metrics.queue.cell(labels),
        metrics.completion_length.cell(labels),
        metrics.prompt_tokens.cell(labels),
        metrics.cached_tokens.cell(labels),
        metrics.completion_tokens.cell(labels),
        metrics.usd.cell(client),
        metrics.replica_seconds.cell((model, pool, hardware)),
    )
