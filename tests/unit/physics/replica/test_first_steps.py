"""Engines that let some steps pass before they take a request."""

import pytest

from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.serving import Load, ReplicaSpec, serve
from tests.support.physics import IDEAL, placement


def profile(steps: float) -> Profile:
    return Profile(key=ProfileKey(), prices=IDEAL, first_token=FirstToken(prompt=1.0, fixed_s=0.5, steps=steps))


def test_steps_beyond_its_own_pass_before_a_request_is_taken() -> None:
    clock = StepClock(placement(), profile(11.5))
    assert clock.ahead_s(100, 0) == pytest.approx(0.5 + 10 * clock.decode_s(1, 0))


def test_the_steps_that_the_machine_takes_anyway_are_not_counted_twice() -> None:
    assert StepClock(placement(), profile(1.5)).ahead_s(100, 0) == 0.5


def test_a_plan_expects_the_steps_that_the_clock_lets_pass() -> None:
    load = Load(concurrency=1, prompt_tokens=100, output_tokens=10)
    few, many = (serve(ReplicaSpec(placement=placement(), profile=profile(steps)), load) for steps in (0.5, 11.5))
    clock = StepClock(placement(), profile(11.5))
    assert many.ttft_s - few.ttft_s == pytest.approx(10 * clock.decode_s(1, 0))
