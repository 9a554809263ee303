"""How many may be inside."""

import pytest

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.domain.errors import Draining, Overloaded
from heterodyne.domain.fleet import ReplicaId


def test_a_full_house_says_when_to_come_back() -> None:
    concurrency_limit = ConcurrencyLimit(1, retry_after_s=9)
    concurrency_limit.check_room()
    concurrency_limit.enter()
    concurrency_limit.occupy(ReplicaId("r"))
    with pytest.raises(Overloaded) as caught:
        concurrency_limit.check_room()
    assert caught.value.retry_after_s == 9
    concurrency_limit.vacate(ReplicaId("r"))
    concurrency_limit.leave()
    concurrency_limit.check_room()
    assert concurrency_limit.by_replica == {}, "an idle replica is forgotten"


def test_a_house_that_drains_takes_nobody() -> None:
    concurrency_limit = ConcurrencyLimit(5, retry_after_s=1)
    concurrency_limit.is_draining = True
    with pytest.raises(Draining):
        concurrency_limit.check_room()


def test_batch_work_leaves_places_to_those_who_are_waited_for() -> None:
    concurrency_limit = ConcurrencyLimit(10, retry_after_s=1)
    for _ in range(9):
        assert concurrency_limit.has_patient_room
        concurrency_limit.enter()
    assert not concurrency_limit.has_patient_room
    concurrency_limit.check_room()
