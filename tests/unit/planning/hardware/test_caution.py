"""Plans take a quantile of measured step times: the less a prediction rests on, the slower it is taken to be."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.ranges import ranges_of
from heterodyne.planning.hardware.ranking import HardwareRequirements, RankedHardware, rank_hardware

CHIPS = {name: accelerators()[name] for name in ("h100-sxm", "mi300x")}
REQUIREMENTS = HardwareRequirements(
    model=model_spec("llama-3.1-70b"), precision=Precision.FP8, slo=Slo(ttft_s=0.5, itl_s=0.05), quantile=0.5
)


def cheapest(quantile: float | None) -> list[RankedHardware]:
    ranking = rank_hardware(structs.replace(REQUIREMENTS, quantile=quantile), CHIPS)
    return [next(one for one in ranking.choices if one.accelerator == name) for name in CHIPS]


def test_a_chip_of_a_maker_that_was_never_measured_is_taken_for_slower() -> None:
    h100, mi300x = cheapest(0.5)
    assert 1.0 <= h100.slowdown < 1.1
    assert mi300x.slowdown > 2.0


def test_it_does_not_win_by_what_is_only_extrapolated() -> None:
    assert rank_hardware(structs.replace(REQUIREMENTS, quantile=None), CHIPS).choices[0].accelerator == "mi300x"
    assert rank_hardware(REQUIREMENTS, CHIPS).choices[0].accelerator == "h100-sxm"


@pytest.mark.parametrize("name", CHIPS)
def test_the_more_cautious_the_dearer(name: str) -> None:
    place = list(CHIPS).index(name)
    costs = [cheapest(quantile)[place].usd_per_million_tokens or 0.0 for quantile in (0.3, 0.5, 0.7)]
    assert costs == sorted(costs)
    assert costs[0] < costs[2]


def test_a_calibration_narrows_what_rests_on_little() -> None:
    for choice in cheapest(0.5):
        ranges = ranges_of(choice, REQUIREMENTS, CHIPS)
        cost, calibrated, middle = ranges.cost, ranges.cost_calibrated, choice.usd_per_million_tokens
        assert cost is not None
        assert calibrated is not None
        assert middle is not None
        assert cost.low is not None
        assert calibrated.low is not None
        assert calibrated.high is not None
        assert cost.low < calibrated.low <= middle <= calibrated.high
        assert cost.high is None or calibrated.high < cost.high
        assert ranges.itl_s.low < choice.load.itl.p50_s < ranges.itl_s.high


def test_what_no_measurement_speaks_of_is_refused() -> None:
    with pytest.raises(InvalidSpec, match=r"quantile: 1 is not between"):
        rank_hardware(structs.replace(REQUIREMENTS, quantile=1.0), CHIPS)
