"""What may become of a batch."""

import pytest

from heterodyne.batches.batch import BatchStatus
from tests.support.stored_batches import a_batch


@pytest.mark.parametrize("status", BatchStatus)
def test_only_a_batch_whose_lines_are_still_answered_can_be_cancelled(status: BatchStatus) -> None:
    before = a_batch("b", status)
    after = before.cancelling(200.0)
    if status in (BatchStatus.VALIDATING, BatchStatus.IN_PROGRESS):
        assert after.status is BatchStatus.CANCELLING
        assert after.times == {status.value: 100.0, "cancelling": 200.0}
    else:
        assert after is before
