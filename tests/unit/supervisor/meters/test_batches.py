"""Batches that are not over, as metrics."""

from heterodyne.batches.batch import BatchStatus
from heterodyne.supervisor.meters.batches import batch_samples
from heterodyne.telemetry import metrics
from tests.support.stored_batches import a_batch


def test_every_status_before_the_end_has_its_line_and_the_late_ones_are_counted() -> None:
    batches = [a_batch("a"), a_batch("b", expected_at=9000.0), a_batch("c", BatchStatus.CANCELLING)]
    told = {(one.meter, one.labels): one.values for one in batch_samples(batches)}
    opened = metrics.batches_open.name
    assert told == {
        (opened, ("validating",)): [0.0],
        (opened, ("in_progress",)): [2.0],
        (opened, ("cancelling",)): [1.0],
        (opened, ("finalizing",)): [0.0],
        (metrics.batches_late.name, ()): [1.0],
    }


def test_of_no_batches_every_line_is_a_zero() -> None:
    assert {value for one in batch_samples([]) for value in one.values} == {0.0}
