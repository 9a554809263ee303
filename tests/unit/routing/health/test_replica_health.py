"""One replica through its days."""

import pytest

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.provider_limit import REQUESTS, ProviderLimit, ToldLimits
from heterodyne.routing.health.breaker import BreakerState
from heterodyne.routing.health.model_health import ModelHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.health.outlier import OutlierPool
from heterodyne.routing.health.replica_health import ReplicaHealth
from heterodyne.routing.health.snapshot import Obstacle
from heterodyne.routing.settings import RoutingSettings

SETTINGS = RoutingSettings()


def replica_health(settings: RoutingSettings = SETTINGS, replicas: int = 2) -> ReplicaHealth:
    pool, group = OutlierPool(settings), ModelHealth(settings)
    first, *_ = [ReplicaHealth(ReplicaId(f"r{number}"), settings, pool, group) for number in range(replicas)]
    return first


def attempt(made: ReplicaHealth, outcome: Outcome, now_s: float, *, first_token: bool = False) -> int:
    trial = made.on_start(now_s, 100)
    if first_token:
        made.on_first_token(now_s, 0.1, 0.1, trial)
    made.on_end(outcome, now_s, trial)
    return trial


def test_a_good_replica_takes_everything() -> None:
    made = replica_health()
    for now_s in range(100):
        attempt(made, Outcome.SUCCESS, float(now_s), first_token=True)
        assert made.may_take(float(now_s)) is None
    seen = made.snapshot(100.0)
    assert (seen.outcomes["success"], seen.in_flight, seen.weight, seen.obstacle) == (100, 0, 1.0, None)


@pytest.mark.parametrize("outcome", [Outcome.CALLER_ERROR, Outcome.CANCELLED])
def test_what_says_nothing_changes_nothing(outcome: Outcome) -> None:
    made = replica_health()
    for _ in range(50):
        attempt(made, outcome, 1.0)
    seen = made.snapshot(1.0)
    assert (seen.obstacle, seen.breaker, seen.failures_in_a_row) == (None, BreakerState.CLOSED, 0)
    assert seen.outcomes[outcome] == 50


def test_an_ejected_replica_comes_back_with_little_weight() -> None:
    made = replica_health()
    for _ in range(5):
        attempt(made, Outcome.ENGINE_FAILED, 0.0)
    assert made.may_take(29.0) is Obstacle.EJECTED
    assert made.snapshot(29.0).ejected_until_s == 30.0
    assert made.may_take(30.0) is None
    assert made.weight(30.0) == 0.1
    assert made.weight(45.0) == 0.5
    assert made.weight(60.0) == 1.0


def test_where_no_more_may_be_ejected_the_breaker_opens() -> None:
    made = replica_health(replicas=1)
    for _ in range(10):
        attempt(made, Outcome.CONNECT_FAILED, 0.0)
    assert made.may_take(4.9) is Obstacle.BREAKER_OPEN
    assert made.may_take(5.0) is None


def test_a_half_open_breaker_takes_one_trial_and_closes_at_its_first_token() -> None:
    made = replica_health(replicas=1)
    for _ in range(10):
        attempt(made, Outcome.CONNECT_FAILED, 0.0)
    trial = made.on_start(5.0, 100)
    assert trial
    assert made.may_take(5.0) is Obstacle.TRIAL_RUNNING
    made.on_first_token(6.0, 0.1, 0.1, trial)
    assert made.may_take(6.0) is None
    assert made.weight(6.0) == 0.1
    made.on_end(Outcome.SUCCESS, 40.0, trial)
    assert made.weight(40.0) == 1.0  # the end of a long answer is no second recovery


def test_a_full_replica_takes_nothing_until_a_request_ends() -> None:
    made = replica_health(RoutingSettings(concurrency_max=2, concurrency_min=1))
    made.on_start(0.0, 100)
    assert made.may_take(0.0) is None
    made.on_start(0.0, 100)
    assert made.may_take(0.0) is Obstacle.FULL
    made.on_end(Outcome.CANCELLED, 1.0)
    assert made.may_take(1.0) is None


def test_a_busy_replica_is_left_alone_for_a_moment_and_not_ejected() -> None:
    made = replica_health()
    for _ in range(20):
        attempt(made, Outcome.REFUSED_BUSY, 0.0)
    assert made.may_take(0.0) is Obstacle.PAUSED
    assert made.may_take(5.0) is None
    seen = made.snapshot(5.0)
    assert (seen.ejections, seen.breaker_opened) == (0, 0)


def test_slow_first_tokens_lower_the_limit_and_size_does_not_matter() -> None:
    made = replica_health()
    for number in range(200):
        made.on_start(0.0, 100)
        if number % 2:
            made.on_first_token(0.0, 0.01, 0.01)
        else:
            made.on_first_token(0.0, 10.0, 10.0)
    grown = made.snapshot(0.0).in_flight_limit
    for _ in range(50):
        made.on_first_token(0.0, 1.0, 6.0)
    assert made.snapshot(0.0).in_flight_limit < grown / 4
    assert made.may_take(0.0) is Obstacle.FULL


def test_without_predictions_nothing_is_limited() -> None:
    made = replica_health()
    for _ in range(100):
        made.on_start(0.0, 100)
        made.on_first_token(0.0, 0.0, 7.0)
    assert made.snapshot(0.0).in_flight_limit == SETTINGS.concurrency_max


def test_an_end_without_a_start_is_our_mistake() -> None:
    with pytest.raises(AssertionError, match="never started"):
        replica_health().on_end(Outcome.SUCCESS, 0.0)


def test_a_provider_with_nothing_left_takes_nothing_until_it_has_and_is_not_blamed() -> None:
    made = replica_health()
    made.on_limits(ToldLimits((ProviderLimit(REQUESTS, 1, None, 30.0),)), 0.0, is_refusal=False)
    assert made.may_take(0.0) is None
    attempt(made, Outcome.SUCCESS, 1.0)
    assert made.is_troubled
    assert made.may_take(29.0) is Obstacle.RATE_LIMITED
    assert made.rate_limit_wait_s == 1.0
    assert made.snapshot(29.0).remaining == {REQUESTS: 0.0}
    assert made.may_take(30.0) is None
    assert (made.is_troubled, made.rate_limit_wait_s) == (False, 0.0)


def test_a_refusal_with_a_time_outlasts_the_pause() -> None:
    made = replica_health()
    trial = made.on_start(0.0, 100)
    made.on_limits(ToldLimits(retry_after_s=20.0), 0.0, is_refusal=True)
    made.on_end(Outcome.REFUSED_BUSY, 0.0, trial)
    assert made.may_take(19.0) is Obstacle.RATE_LIMITED
    assert made.may_take(20.0) is None
    assert made.snapshot(20.0).failures_in_a_row == 0
