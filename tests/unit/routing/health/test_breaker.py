"""When a replica is no longer asked, and how one request finds out that it is back."""

from heterodyne.routing.health.breaker import NO_TRIAL, Breaker, BreakerState


def breaker() -> Breaker:
    return Breaker(failures=3, window_s=10.0, open_s=5.0)


def opened() -> Breaker:
    made = breaker()
    for now_s in (0.0, 1.0, 2.0):
        made.on_failure(NO_TRIAL, now_s)
    return made


def test_enough_failures_within_the_window_open_it() -> None:
    made = opened()
    assert (made.state, made.opened) == (BreakerState.OPEN, 1)


def test_failures_far_apart_do_not() -> None:
    made = breaker()
    for now_s in range(0, 600, 6):
        made.on_failure(NO_TRIAL, float(now_s))
    assert made.state is BreakerState.CLOSED


def test_after_its_time_it_lets_one_trial_through() -> None:
    made = opened()
    assert made.try_trial(6.9) == NO_TRIAL
    trial = made.try_trial(7.0)
    assert trial != NO_TRIAL
    assert made.state is BreakerState.HALF_OPEN
    assert made.try_trial(8.0) == NO_TRIAL


def test_a_good_trial_closes_it() -> None:
    made = opened()
    assert made.on_good(made.try_trial(7.0))
    assert made.state is BreakerState.CLOSED


def test_a_failed_trial_opens_it_again() -> None:
    made = opened()
    made.on_failure(made.try_trial(7.0), 8.0)
    assert (made.state, made.opened) == (BreakerState.OPEN, 2)
    assert made.try_trial(12.9) == NO_TRIAL
    assert made.try_trial(13.0) != NO_TRIAL


def test_a_cancelled_trial_makes_room_for_the_next() -> None:
    made = opened()
    made.on_nothing(made.try_trial(7.0))
    assert made.state is BreakerState.HALF_OPEN
    assert made.try_trial(7.0) != NO_TRIAL


def test_requests_from_before_it_opened_change_nothing() -> None:
    made = opened()
    trial = made.try_trial(7.0)
    made.on_good(NO_TRIAL)
    made.on_failure(NO_TRIAL, 7.0)
    made.on_nothing(NO_TRIAL)
    assert (made.state, made.trial) == (BreakerState.HALF_OPEN, trial)


def test_the_end_of_an_earlier_trial_does_not_speak_for_the_present_one() -> None:
    made = opened()
    early = made.try_trial(7.0)
    made.on_good(early)  # its first token; the answer goes on for long
    made.on_failure(NO_TRIAL, 8.0)
    late = made.try_trial(13.0)
    assert not made.on_good(early)
    assert (made.state, made.trial) == (BreakerState.HALF_OPEN, late)


def test_a_failure_soon_after_it_closed_opens_it_at_once() -> None:
    made = opened()
    made.on_good(made.try_trial(7.0))
    made.on_failure(NO_TRIAL, 8.0)
    assert made.state is BreakerState.OPEN


def test_a_failure_long_after_it_closed_does_not() -> None:
    made = opened()
    made.on_good(made.try_trial(7.0))
    made.on_failure(NO_TRIAL, 20.0)
    assert made.state is BreakerState.CLOSED
