"""Who gives way as the fleet fills."""

import pytest

from heterodyne.admission.shedding import check_shed, saturation, shed_probability
from heterodyne.domain.errors import Shed
from heterodyne.domain.urgency import Tier, Urgency


def full_fleet(queue_fill: float) -> float:
    return saturation(load=1.0, queue_fill=queue_fill)


def test_saturation_is_half_the_fleet_and_half_its_queue() -> None:
    assert saturation(load=0.0, queue_fill=0.0) == 0.0
    assert saturation(load=1.0, queue_fill=0.0) == 0.5
    assert saturation(load=1.0, queue_fill=1.0) == 1.0
    assert saturation(load=1.4, queue_fill=1.0) > 1.0
    assert saturation(load=-1.0, queue_fill=-1.0) == 0.0


def test_nobody_is_shed_while_the_fleet_has_room() -> None:
    for tier in Tier:
        assert shed_probability(tier, saturation(load=1.0, queue_fill=0.0)) == 0.0


def test_bronze_gives_way_early_silver_late_and_gold_never() -> None:
    assert shed_probability(Tier.BRONZE, full_fleet(0.3)) == pytest.approx(0.5)
    assert shed_probability(Tier.SILVER, full_fleet(0.3)) == 0.0
    assert shed_probability(Tier.BRONZE, full_fleet(0.51)) == 1.0
    assert shed_probability(Tier.SILVER, full_fleet(0.7)) == pytest.approx(0.5)
    assert shed_probability(Tier.SILVER, full_fleet(0.91)) == 1.0
    assert shed_probability(Tier.GOLD, 5.0) == 0.0


def test_more_saturation_never_sheds_less_and_a_better_tier_never_more() -> None:
    steps = [step / 100 for step in range(200)]
    for tier in Tier:
        chances = [shed_probability(tier, step) for step in steps]
        assert chances == sorted(chances)
        assert all(0.0 <= chance <= 1.0 for chance in chances)
    for step in steps:
        gold, silver, bronze = (shed_probability(tier, step) for tier in (Tier.GOLD, Tier.SILVER, Tier.BRONZE))
        assert gold <= silver <= bronze


def test_the_lot_decides_and_the_refusal_says_why_and_when() -> None:
    half = full_fleet(0.3)
    check_shed(Tier.BRONZE, Urgency.INTERACTIVE, saturation=half, chance=0.51, retry_after_s=4)
    with pytest.raises(Shed, match=r"65 % full, and bronze requests give way") as shed:
        check_shed(Tier.BRONZE, Urgency.INTERACTIVE, saturation=half, chance=0.49, retry_after_s=4)
    assert shed.value.retry_after_s == 4


def test_work_that_can_wait_is_not_shed() -> None:
    for urgency in (Urgency.BATCH, Urgency.BACKGROUND):
        check_shed(Tier.BRONZE, urgency, saturation=1.0, chance=0.0, retry_after_s=1)


def test_nobody_is_shed_below_the_ramp_even_by_the_smallest_chance() -> None:
    check_shed(Tier.BRONZE, Urgency.INTERACTIVE, saturation=0.5, chance=0.0, retry_after_s=1)
