"""A mix says how slow its steps may be, and what measuring them would leave of that."""

from msgspec import structs

from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.caution import HIGH
from heterodyne.planning.mix.requirements import MixRequirements, mix_problem
from heterodyne.planning.mix.step_ranges import step_ranges
from heterodyne.planning.traffic.histogram import Cell
from heterodyne.planning.traffic.request_shape import RequestShape

CHIPS = tuple(accelerators()[name] for name in ("h100-sxm", "mi300x"))
REQUIREMENTS = MixRequirements(
    model=model_spec("llama-3.1-70b"),
    precision=Precision.FP8,
    cells=(Cell(name="all", shape=RequestShape(prompt_tokens=500, output_tokens=160), share=1.0),),
    requests_per_s=10.0,
    slo=Slo(ttft_s=1.0, itl_s=0.05),
    accelerators=CHIPS,
    quantile=0.5,
)


def test_a_calibration_leaves_less_and_most_where_little_is_known() -> None:
    kinds = {kind.hardware: kind for kind in mix_problem(REQUIREMENTS).kinds}
    ranges = step_ranges(REQUIREMENTS, kinds.values())
    h100, mi300x = (ranges[kinds[name].name] for name in ("h100-sxm", "mi300x"))
    for one in (h100, mi300x):
        assert one.range.low < one.calibrated.low < one.taken < one.calibrated.high < one.range.high
    assert mi300x.range.high / mi300x.range.low > 2 * h100.range.high / h100.range.low


def test_the_more_cautious_the_less_each_kind_carries() -> None:
    usual, cautious = (mix_problem(structs.replace(REQUIREMENTS, quantile=one)).kinds for one in (0.5, HIGH))
    least = {kind.name: kind.requests_per_s["all"] for kind in cautious}
    assert all(
        rate <= kind.requests_per_s["all"] for kind in usual for name, rate in least.items() if name == kind.name
    )
    assert all(kind.slowdown > 1.0 for kind in cautious)
