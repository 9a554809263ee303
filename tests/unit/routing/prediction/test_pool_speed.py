"""What a pool's requests teach about its speed."""

from random import Random

import pytest

from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.prediction.prior import UNKNOWN
from tests.support.replica_states import ROUND, replica_state, routing_request


def test_before_anything_is_known_it_is_the_prior() -> None:
    speed = PoolSpeed(ROUND)
    assert (speed.ahead_s, speed.prompts, speed.steps) == (ROUND.fixed_s, 1.0, 1.0)
    assert (speed.step_s, speed.sequence_s, speed.context_token_s) == (
        ROUND.step_s,
        ROUND.sequence_s,
        ROUND.context_token_s,
    )
    assert not speed.is_lost


def first_tokens(speed: PoolSpeed, pace: float, samples: int) -> None:
    random = Random(1)
    for _ in range(samples):
        work_s, backlog_s, steps_s = 0.2 * random.random(), 0.1 * random.random(), 0.02 * random.random()
        waited_s = backlog_s * speed.prompts  # a forecast's backlog is as long as the pool is thought to take for it
        actual_s = pace * (ROUND.fixed_s + work_s + backlog_s + steps_s) * random.lognormvariate(0.0, 0.1)
        speed.learn_first(work_s, waited_s, steps_s, actual_s)


def test_first_tokens_that_come_twice_as_late_make_prompts_twice_as_long() -> None:
    speed = PoolSpeed(ROUND)
    first_tokens(speed, 2.0, 300)
    assert speed.prompts == pytest.approx(2.0, rel=0.15)
    assert speed.step_s == ROUND.step_s  # of the pace of tokens they say nothing


def paces(speed: PoolSpeed, samples: int, *, step: float, sequence: float, context: float) -> None:
    random = Random(1)
    for _ in range(samples):
        sequences, prompts_s = 1 + 50 * random.random(), 0.005 * random.random()
        tokens = sequences * random.uniform(200.0, 2000.0)
        batch_s = sequence * ROUND.sequence_s * sequences + context * ROUND.context_token_s * tokens
        speed.learn_later(sequences, tokens, prompts_s, step * ROUND.step_s + batch_s + prompts_s)


def test_tokens_that_come_twice_as_slowly_make_steps_twice_as_long() -> None:
    speed = PoolSpeed(ROUND)
    paces(speed, 300, step=2.0, sequence=2.0, context=2.0)
    assert speed.step_s == pytest.approx(2 * ROUND.step_s, rel=0.1)
    assert speed.sequence_s == pytest.approx(2 * ROUND.sequence_s, rel=0.15)
    assert speed.prompts == 1.0


def test_how_a_step_grows_with_its_batch_is_learned_apart_from_its_fixed_part() -> None:
    speed = PoolSpeed(ROUND)
    paces(speed, 100, step=0.5, sequence=10.0, context=3.0)
    assert speed.step_s == pytest.approx(0.5 * ROUND.step_s, rel=0.15)
    assert speed.sequence_s == pytest.approx(10 * ROUND.sequence_s, rel=0.15)
    assert speed.context_token_s == pytest.approx(3 * ROUND.context_token_s, rel=0.15)


def test_a_delay_that_no_prior_knows_of_is_learned_on_the_whole() -> None:
    # First tokens draw their factors together, so that a part of it stays with the prompts: short ones come later.
    speed, random = PoolSpeed(ROUND), Random(1)
    for _ in range(500):
        work_s = 0.1 * random.random()
        speed.learn_first(work_s, 0.0, 0.0, 0.04 + work_s)  # twice the fixed time
    for work_s in (0.01, 0.05, 0.1):
        assert speed.ahead_s + speed.prompts * work_s == pytest.approx(0.04 + work_s, rel=0.2)


def test_a_pool_nobody_knows_is_learned_within_300_requests() -> None:
    speed, random = PoolSpeed(UNKNOWN), Random(1)
    for _ in range(300):
        tokens = random.randrange(100, 4000)
        work_s = UNKNOWN.prompt_work_s(tokens)
        speed.learn_first(work_s, 0.0, 0.0, 0.01 + 1e-5 * tokens)
    for tokens in (500, 1000, 2000, 4000):
        predicted_s = speed.ahead_s + speed.prompts * UNKNOWN.prompt_work_s(tokens)
        assert predicted_s == pytest.approx(0.01 + 1e-5 * tokens, rel=0.3)


def test_the_share_of_time_for_prompts_is_measured_and_fades() -> None:
    speed = PoolSpeed(ROUND)
    speed.replicas = 2
    for number in range(1000):  # half of each replica's time
        speed.add_prompt(0.1, number * 0.1)
    assert speed.prompt_rate / speed.replicas == pytest.approx(0.5, rel=0.1)
    quiet, busy = (
        forecast_on(replica_state(speed=speed), routing_request(), 0.0, 200.0),
        forecast_on(replica_state(speed=speed), routing_request(), 0.0, 100.0),
    )
    assert busy.itl_s == pytest.approx(2 * quiet.itl_s, rel=0.15), "half of the time is left for tokens"


def test_a_snapshot_says_what_was_learned() -> None:
    speed = PoolSpeed(ROUND)
    first_tokens(speed, 2.0, 300)
    speed.ttft_band.learn(1.0, 1.1, 0.5, 2.0)
    seen = speed.snapshot()
    assert seen.ttft_factors[1] == speed.prompts
    assert seen.itl_factors == (1.0, 1.0, 1.0, 1.0)
    assert seen.samples == 1
    assert not seen.is_lost
