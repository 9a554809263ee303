"""How many may be inside."""

import pytest

from heterodyne.admission.house import House
from heterodyne.domain.errors import Draining, Overloaded
from heterodyne.domain.fleet import ReplicaId


def test_a_full_house_says_when_to_come_back() -> None:
    house = House(1, retry_after_s=9)
    house.check_room()
    house.enter()
    house.occupy(ReplicaId("r"))
    with pytest.raises(Overloaded) as caught:
        house.check_room()
    assert caught.value.retry_after_s == 9
    house.vacate(ReplicaId("r"))
    house.leave()
    house.check_room()
    assert house.by_replica == {}, "an idle replica is forgotten"


def test_a_house_that_drains_takes_nobody() -> None:
    house = House(5, retry_after_s=1)
    house.is_draining = True
    with pytest.raises(Draining):
        house.check_room()
