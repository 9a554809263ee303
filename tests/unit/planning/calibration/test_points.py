"""Which loads are measured: spread, within memory, within time."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Demand, Layout, memory_budget
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.planning.calibration.points import CalibrationLimits, choose_points, expected_s, replica_of

LAYOUT = Layout(model=model_spec("llama-3.1-70b"), accelerator=accelerator("h100-sxm"), precision=Precision.FP8, tp=2)
PROFILE = profile_for(LAYOUT.model, LAYOUT.accelerator, engine="vllm", precision=Precision.FP8, tp=2).profile


@pytest.mark.parametrize("count", [6, 10, 12, 16])
def test_as_many_points_as_asked_and_none_twice(count: int) -> None:
    points = choose_points(LAYOUT, PROFILE, CalibrationLimits(points=count))
    assert len(set(points)) == len(points) == count


def test_points_span_batch_and_context() -> None:
    points = choose_points(LAYOUT, PROFILE, CalibrationLimits())
    assert min(point.concurrency for point in points) == 1
    assert max(point.concurrency for point in points) == 64
    assert max(point.prompt_tokens for point in points) >= 64 * min(point.prompt_tokens for point in points)


def test_single_requests_come_first_then_quick_loads_and_all_fit_the_time() -> None:
    limits = CalibrationLimits(budget_s=120.0)
    replica = replica_of(LAYOUT, PROFILE)
    points = choose_points(LAYOUT, PROFILE, limits)
    order = [(point.concurrency > 1, expected_s(replica, point)) for point in points]
    assert order == sorted(order)
    assert not order[0][0]
    assert sum(time_s for _, time_s in order) <= limits.budget_s


def test_no_point_needs_more_memory_than_there_is() -> None:
    small = structs.replace(LAYOUT, model=model_spec("llama-3.1-8b"), accelerator=accelerator("l4"), tp=1)
    for point in choose_points(small, PROFILE, CalibrationLimits(budget_s=10_000.0, concurrency_max=512)):
        tokens = point.prompt_tokens + point.output_tokens * 3 // 2
        assert memory_budget(small, Demand(context_tokens=tokens)).concurrency_max >= point.concurrency


def test_limits_of_the_endpoint_are_kept() -> None:
    limits = CalibrationLimits(context_tokens_max=512, concurrency_max=3)
    points = choose_points(LAYOUT, PROFILE, limits)
    assert max(point.concurrency for point in points) == 3
    assert max(point.prompt_tokens + point.output_tokens * 3 // 2 for point in points) <= 512


def test_a_llamacpp_server_is_not_asked_for_more_than_its_slots() -> None:
    local = Layout(
        model=model_spec("smollm2-135m"),
        accelerator=accelerator("cpu-arm"),
        precision=Precision.INT4,
        engine=EngineKind.LLAMACPP,
    )
    assert max(point.concurrency for point in choose_points(local, PROFILE, CalibrationLimits())) == 4


def test_a_slow_replica_gets_shorter_answers_and_smaller_loads() -> None:
    slow = structs.replace(PROFILE, prices=type(PROFILE.prices).of(4 * value for value in PROFILE.prices.values()))
    usual, less = choose_points(LAYOUT, PROFILE, CalibrationLimits()), choose_points(LAYOUT, slow, CalibrationLimits())
    assert less[0].output_tokens < usual[0].output_tokens


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (CalibrationLimits(points=0), "points: 0 is not a whole number above zero"),
        (CalibrationLimits(budget_s=0.0), "budget-s: 0 is not above zero"),
        (CalibrationLimits(context_tokens_max=-1), "context-max: -1"),
        (
            CalibrationLimits(budget_s=0.1),
            "0 different loads can be measured in 0 s each and a fit needs 6; give more time",
        ),
    ],
)
def test_what_cannot_be_is_refused(limits: CalibrationLimits, reason: str) -> None:
    with pytest.raises(InvalidSpec, match=reason):
        choose_points(LAYOUT, PROFILE, limits)
