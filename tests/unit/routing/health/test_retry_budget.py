"""How many tokens may be sent again."""

from heterodyne.routing.health.model_health import RetryBudget


def budget(reserve: float = 0.0) -> RetryBudget:
    return RetryBudget(share=0.2, window_s=10.0, reserve_tokens_per_s=reserve)


def test_five_requests_pay_for_one_retry_of_their_size() -> None:
    made = budget()
    for _ in range(5):
        assert not made.try_spend(1000, 0.0)
        made.deposit(1000, 0.0)
    assert made.try_spend(1000, 1.0)
    assert not made.try_spend(1, 1.0)
    assert (made.spent_tokens, made.refused) == (1000, 6)


def test_a_long_prompt_needs_what_many_short_ones_do() -> None:
    made = budget()
    for _ in range(100):
        made.deposit(1000, 0.0)
    assert not made.try_spend(100_000, 0.0)
    assert all(made.try_spend(1000, 0.0) for _ in range(20))


def test_deposits_are_forgotten_after_the_window() -> None:
    made = budget()
    made.deposit(10_000, 0.5)
    assert made.try_spend(1000, 9.9)
    assert not made.try_spend(1, 10.0)
    assert made.available_tokens(30.0) == 0.0


def test_a_quiet_model_may_retry_from_the_reserve_which_fills_again() -> None:
    made = budget(reserve=100.0)
    assert made.try_spend(1000, 1000.0)
    assert not made.try_spend(1, 1009.9)
    assert made.try_spend(1000, 1010.0)


def test_a_retry_is_paid_for_once() -> None:
    made = budget()
    made.deposit(5000, 0.0)
    assert made.try_spend(1000, 5.0)
    assert made.available_tokens(12.0) == 0.0  # the deposit is gone, the withdrawal is not yet
    made.deposit(5000, 12.0)
    assert made.available_tokens(14.9) == 0.0
    assert made.available_tokens(15.0) == 1000.0
