"""Counts one finished request in every metric that speaks of requests.

The cells of a label set are looked up once and kept, so a request costs a dictionary look-up and a few additions.
"""

from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import LABEL_SETS_MAX, Labels, add_to_histogram


class _Cells:
    """The cells of one (model, pool, operation)."""

    __slots__ = (
        "_decisions",
        "_labels",
        "_outcomes",
        "cached",
        "completion",
        "duration",
        "itl",
        "lengths",
        "prompt",
        "ttft",
    )

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._outcomes: dict[tuple[int, str], list[float]] = {}
        self._decisions: dict[str, list[float]] = {}
        self.duration = metrics.duration.cell(labels)
        self.ttft = metrics.ttft.cell(labels)
        self.itl = metrics.itl.cell(labels)
        self.prompt = metrics.prompt_tokens.cell(labels)
        self.cached = metrics.cached_tokens.cell(labels)
        self.completion = metrics.completion_tokens.cell(labels)
        self.lengths = metrics.completion_length.cell(labels)

    def outcome(self, status: int, reason: str) -> list[float]:
        """Statuses and reasons are few: both come from closed sets."""
        cell = self._outcomes.get((status, reason))
        if cell is None:
            cell = metrics.requests.cell((*self._labels, str(status), reason))
            self._outcomes[status, reason] = cell
        return cell

    def decision(self, reason: str) -> list[float]:
        """Reasons are, too."""
        cell = self._decisions.get(reason)
        if cell is None:
            cell = self._decisions[reason] = metrics.decisions.cell((*self._labels[:2], reason))
        return cell


class RequestMeters:
    """One per worker."""

    def __init__(self) -> None:
        self._cells: dict[Labels, _Cells] = {}

    def observe(self, record: RequestRecord) -> None:
        """Add one finished request."""
        labels = (record.model, record.pool, record.operation)
        cells = self._cells.get(labels)
        if cells is None:
            if len(self._cells) >= LABEL_SETS_MAX:
                self._cells.clear()
            cells = self._cells[labels] = _Cells(labels)
        cells.outcome(record.status, record.reason)[0] += 1.0
        if record.decision:
            cells.decision(record.decision)[0] += 1.0
        add_to_histogram(cells.duration, metrics.SECONDS, record.total_ms / 1000)
        if record.ttft_ms is not None:
            add_to_histogram(cells.ttft, metrics.SECONDS, record.ttft_ms / 1000)
        if record.itl_ms is not None:
            add_to_histogram(cells.itl, metrics.ITL_SECONDS, record.itl_ms / 1000)
        cells.prompt[0] += record.prompt_tokens
        cells.cached[0] += record.cached_tokens
        if record.completion_tokens:
            cells.completion[0] += record.completion_tokens
            add_to_histogram(cells.lengths, metrics.TOKENS, record.completion_tokens)
