"""How much pools carry, and what is left when a replica is gone."""

import pytest

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.memory import Layout
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import scheduling_of
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.pool_capacity import (
    PoolCapacity,
    capacity_of,
    load_of,
    replica_requests_per_s,
    worst_loss,
)
from heterodyne.planning.traffic.request_shape import RequestShape

LAYOUT = Layout(model=model_spec("llama-3.1-8b"), accelerator=accelerator("h100-sxm"), precision=Precision.FP8)
PROFILE = profile_for(LAYOUT.model, LAYOUT.accelerator, engine=LAYOUT.engine, precision=LAYOUT.precision, tp=1).profile
SHAPE = RequestShape(prompt_tokens=1000, output_tokens=200)
SLO = Slo(ttft_s=0.5, itl_s=0.05)
BIG = PoolCapacity(pool="big", replicas=2, replica_requests_per_s=10.0)
SMALL = PoolCapacity(pool="small", replicas=3, replica_requests_per_s=2.0)
UNKNOWN = PoolCapacity(pool="unknown", replicas=4, replica_requests_per_s=None)


def rate(shape: RequestShape = SHAPE, slo: Slo = SLO) -> float:
    scheduling = scheduling_of(LAYOUT, context_tokens=round(shape.prompt_tokens + shape.output_tokens))
    return replica_requests_per_s(LAYOUT, PROFILE, scheduling, shape=shape, slo=slo)


def test_longer_requests_and_a_stricter_promise_leave_less_room() -> None:
    assert rate() > 1
    assert rate(RequestShape(prompt_tokens=2000, output_tokens=400)) < rate()
    assert rate(slo=Slo(ttft_s=0.5, itl_s=0.008)) < rate()


def test_a_promise_that_nobody_keeps_leaves_none() -> None:
    assert rate(slo=Slo(ttft_s=1e-6, itl_s=1e-6)) == 0.0


def test_room_is_what_the_known_replicas_carry() -> None:
    assert capacity_of([BIG, SMALL, UNKNOWN]) == 26.0
    assert capacity_of([UNKNOWN]) is None
    assert capacity_of([]) is None


def test_load_is_a_share_of_the_room() -> None:
    assert load_of(13.0, 26.0) == 0.5
    assert load_of(39.0, 26.0) == 1.5
    assert load_of(1.0, None) is None
    assert load_of(1.0, 0.0) is None


@pytest.mark.parametrize(("demand", "is_enough"), [(15.0, True), (16.0, True), (17.0, False)])
def test_the_replica_that_carries_most_is_the_one_to_lose(demand: float, is_enough: bool) -> None:
    loss = worst_loss([SMALL, BIG], demand)
    assert loss is not None
    assert (loss.pool, loss.load_after, loss.is_enough) == ("big", demand / 16.0, is_enough)


def test_with_a_single_replica_there_is_nothing_to_check() -> None:
    only = PoolCapacity(pool="only", replicas=1, replica_requests_per_s=10.0)
    assert worst_loss([only], 1.0) is None
    assert worst_loss([], 1.0) is None


def test_what_is_not_known_is_not_guessed() -> None:
    loss = worst_loss([UNKNOWN], 1.0)
    assert loss is not None
    assert (loss.load_after, loss.is_enough) == (None, None)


def test_a_loss_that_leaves_nothing_is_not_enough() -> None:
    slow = PoolCapacity(pool="slow", replicas=1, replica_requests_per_s=0.0)
    only = PoolCapacity(pool="only", replicas=1, replica_requests_per_s=10.0)
    loss = worst_loss([slow, only], 1.0)
    assert loss is not None
    assert (loss.pool, loss.load_after, loss.is_enough) == ("only", None, False)
