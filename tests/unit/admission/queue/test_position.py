"""How long a request is told that it will wait, and how much of the crowd its tenant is."""

import pytest

from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.waiting import StartVerdict, Waiting
from heterodyne.domain.urgency import Urgency

GOLD, BRONZE = "gold", "bronze"
WEIGHTS = {GOLD: 16.0, BRONZE: 1.0}


def queue() -> FairQueue:
    return FairQueue("m", queue_max=1000, tenant_queue_max=1000)


def request(tenant: str, service: float = 1.0) -> Waiting:
    return Waiting(tenant=tenant, service=service, weight=WEIGHTS.get(tenant, 1.0))


def can_start(_: Waiting) -> StartVerdict:
    return StartVerdict.YES


def test_who_keeps_coming_with_more_weight_counts_before_it_has_come() -> None:
    line = queue()
    for _ in range(10):
        line.push(request(BRONZE), 0.0)
    for second in range(1, 121):  # one starts every second, and every other one of them is gold's
        if second % 2:
            line.push(request(GOLD), second - 0.5)
        started = line.try_take(can_start, float(second))
        assert started is not None
        if started.tenant == BRONZE:
            line.push(request(BRONZE), float(second))
    assert line.tenant_depth(BRONZE, Urgency.INTERACTIVE) == 10
    last = line.place(request(BRONZE), 120.0)
    assert last.wait_s == pytest.approx(20.0, rel=0.2), "ten before it, of which one starts every two seconds"
    assert line.place(request(GOLD), 120.0).wait_s <= 2.0


def test_a_class_that_drains_alone_waits_for_what_is_before_it() -> None:
    line = queue()
    for _ in range(5):
        line.push(request(BRONZE), 0.0)
    for second in range(1, 61):
        assert line.try_take(can_start, float(second)) is not None
        line.push(request(BRONZE), float(second))
    assert line.place(request(BRONZE), 60.0).wait_s == pytest.approx(5.0, rel=0.05)
    assert line.wait_s(Urgency.INTERACTIVE, 60.0) == pytest.approx(5.0, rel=0.05)


def test_the_part_of_a_tenant_is_what_it_has_waiting_beside_others() -> None:
    line = queue()
    assert line.place(request("a"), 0.0).part == 1.0
    for _ in range(9):
        line.push(request("loud"), 0.0)
    assert line.place(request("loud"), 0.0).part == 1.0
    assert line.place(request("quiet"), 0.0).part == pytest.approx(2 / 10)


def test_weight_makes_the_same_requests_a_smaller_part() -> None:
    line = queue()
    for _ in range(9):
        line.push(request(GOLD), 0.0)
    assert line.place(request(BRONZE), 0.0).part == 1.0
    line.push(request(BRONZE), 0.0)
    assert line.place(request(GOLD), 0.0).part == pytest.approx(2 * (10 / 16) / (10 / 16 + 1))
