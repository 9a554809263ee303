"""Pure: batches that are not over, as metrics."""

from collections import Counter
from collections.abc import Sequence

from heterodyne.batches.batch import ENDS, Batch, BatchStatus
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Sample


def batch_samples(batches: Sequence[Batch]) -> list[Sample]:
    """Every status that is no end has its line, so that no batch is a zero and not an absence."""
    counts = Counter(one.status for one in batches)
    late = sum(one.is_late for one in batches)
    return [
        *(
            Sample(metrics.batches_open.name, (status.value,), [float(counts[status])])
            for status in BatchStatus
            if status not in ENDS
        ),
        Sample(metrics.batches_late.name, (), [float(late)]),
    ]
