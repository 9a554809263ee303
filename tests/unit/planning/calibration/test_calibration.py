"""A replica's prices come back from points that were made with them, and a fit says what it is worth."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Layout
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import Prices
from heterodyne.physics.profile import Basis, FirstToken, Profile
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.planning.calibration.calibration import MeasuredPoint, at_the_pace_of, calibrate, expected
from heterodyne.planning.calibration.points import CalibrationLimits, CalibrationPoint, choose_points, load_of

LAYOUT = Layout(
    model=model_spec("llama-3.1-8b"), accelerator=accelerator("l40s"), precision=Precision.FP8, engine=EngineKind.VLLM
)
PRIOR = profile_for(LAYOUT.model, LAYOUT.accelerator, engine="vllm", precision=Precision.FP8, tp=1).profile


def slower(steps: float, prompts: float) -> Profile:
    prices = structs.asdict(PRIOR.prices)
    factors = {name: prompts if name.startswith("prompt_") else steps for name in prices}
    return structs.replace(
        PRIOR,
        prices=Prices(**{name: value * factors[name] for name, value in prices.items()}),
        first_token=FirstToken(prompt=1.5, queue=0.2, fixed_s=0.1),
    )


def measured(truth: Profile, point: CalibrationPoint, *, noise: float = 1.0) -> MeasuredPoint:
    times = expected(LAYOUT, truth, load_of(point))
    return MeasuredPoint(
        point=point,
        prompt_tokens=point.prompt_tokens,
        output_tokens=point.output_tokens,
        ttft_s=times.ttft_s,
        itl_s=times.itl_s * noise,
        answers=4,
    )


def points(count: int = 12) -> tuple[CalibrationPoint, ...]:
    return choose_points(LAYOUT, PRIOR, CalibrationLimits(points=count))


@pytest.mark.parametrize(("steps", "prompts"), [(1.5, 1.5), (3.0, 3.0), (0.7, 0.7), (2.0, 20.0), (3.0, 1.0)])
def test_a_replica_slower_than_we_thought_is_recovered(steps: float, prompts: float) -> None:
    truth = slower(steps, prompts)
    found = calibrate(LAYOUT, PRIOR, [measured(truth, point) for point in points()])
    assert found.is_better
    assert found.left_out.itl < 0.05
    assert found.left_out.ttft < 0.25
    unseen = load_of(CalibrationPoint(concurrency=12, prompt_tokens=777, output_tokens=100))
    assert expected(LAYOUT, found.profile, unseen).itl_s == pytest.approx(
        expected(LAYOUT, truth, unseen).itl_s, rel=0.05
    )


def test_one_odd_point_spoils_itself_and_not_the_others() -> None:
    truth, chosen = slower(2.0, 2.0), points()
    some = [measured(truth, point, noise=3.0 if place == 5 else 1.0) for place, point in enumerate(chosen)]
    errors = [abs(one.left_out.itl_s / one.measured.itl_s - 1) for one in calibrate(LAYOUT, PRIOR, some).compared]
    assert errors.pop(5) > 0.5
    assert max(errors) < 0.25


def test_points_we_predicted_already_are_not_worth_keeping() -> None:
    found = calibrate(LAYOUT, PRIOR, [measured(PRIOR, point) for point in points()])
    assert found.before.both == pytest.approx(0.0)
    assert not found.is_better


def test_the_profile_is_found_as_the_operators_own_and_for_no_other_width() -> None:
    some = [measured(slower(2.0, 2.0), point) for point in points()]
    profile = calibrate(LAYOUT, PRIOR, some, engine_version="0.18", source="here").profile
    assert (profile.measured_points, profile.source, profile.key.engine_version) == (12, "here", "0.18")

    def basis(tp: int) -> Basis:
        return profile_for(
            LAYOUT.model, LAYOUT.accelerator, engine="vllm", precision=Precision.FP8, tp=tp, measured=(profile,)
        ).basis

    assert basis(1) is Basis.OWN
    assert basis(2) is not Basis.OWN


def test_a_handful_of_points_is_too_few() -> None:
    some = [measured(PRIOR, point) for point in points(6)][:5]
    with pytest.raises(InvalidSpec, match="points: 5 were measured, a fit needs 6"):
        calibrate(LAYOUT, PRIOR, some)


def test_points_without_any_company_still_give_a_fit() -> None:
    alone = choose_points(LAYOUT, PRIOR, CalibrationLimits(points=8, concurrency_max=1))
    found = calibrate(LAYOUT, PRIOR, [measured(slower(2.0, 2.0), point) for point in alone])
    assert found.left_out.itl < 0.05


def test_one_request_alone_sets_the_pace() -> None:
    truth = slower(4.0, 30.0)
    alone = measured(truth, CalibrationPoint(concurrency=1, prompt_tokens=64, output_tokens=16))
    paced = expected(LAYOUT, at_the_pace_of(LAYOUT, PRIOR, alone), alone.load)
    assert paced.itl_s == pytest.approx(alone.itl_s)
    assert paced.ttft_s == pytest.approx(alone.ttft_s, rel=0.3)
