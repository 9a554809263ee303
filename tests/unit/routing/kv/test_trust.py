"""How far the index is believed."""

import pytest

from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.kv.trust import MISSES_TO_FORGET, PRIOR, Trust


def lesson(trust: Trust, said: int, reported: int | None, prompt: int = 1000, at_s: float = 1.0) -> bool:
    return trust.learn(said, reported, prompt, started_s=at_s, now_s=at_s + 0.5)


def test_an_engine_that_never_reports_leaves_the_prior() -> None:
    trust = Trust(0.6)
    for _ in range(100):
        assert not lesson(trust, 800, None)
    assert trust.factor == 0.6


def test_trust_grows_towards_one_while_the_index_is_right() -> None:
    trust = Trust()
    for _ in range(20):
        lesson(trust, 800, 830)
    assert 0.99 < trust.factor <= 1.0


def test_trust_settles_at_the_share_that_was_really_cached() -> None:
    trust = Trust()
    for _ in range(40):
        lesson(trust, 800, 400)
    assert trust.factor == pytest.approx(0.5, abs=0.01)


def test_one_miss_costs_little_and_a_few_in_a_row_nearly_everything() -> None:
    trust = Trust(1.0)
    assert not lesson(trust, 800, 0)
    assert trust.factor == pytest.approx(0.8)
    assert not lesson(trust, 800, 0)
    assert lesson(trust, 800, 0)
    assert trust.factor < 0.1


def test_misses_between_hits_are_evictions_and_forget_nothing() -> None:
    trust = Trust()
    assert not any(lesson(trust, 800, 800 * (turn % 2)) for turn in range(100))
    assert 0.3 < trust.factor < 0.7


def test_an_engine_that_leaves_out_zero_is_taken_to_have_said_it() -> None:
    trust = Trust(1.0)
    lesson(trust, 800, 800)
    assert [lesson(trust, 800, None) for _ in range(MISSES_TO_FORGET)] == [False, False, True]


@pytest.mark.parametrize("reported", [-5, 1000, 1001, 10**12])
def test_a_counter_that_cannot_be_right_is_no_report(reported: int) -> None:
    trust = Trust()
    for _ in range(50):
        assert not lesson(trust, 800, reported)
    assert trust.factor == PRIOR


def test_a_counter_that_says_too_much_never_lifts_the_factor_above_one() -> None:
    trust = Trust()
    for _ in range(50):
        lesson(trust, 10, 999)
    assert trust.factor <= 1.0


def test_what_the_index_did_not_claim_teaches_nothing() -> None:
    trust = Trust()
    assert not lesson(trust, 0, 0)
    assert not lesson(trust, 0, 900)
    assert trust.factor == PRIOR


def test_answers_begun_before_the_forgetting_do_not_forget_again() -> None:
    trust = Trust(1.0)
    assert [lesson(trust, 800, 0, at_s=1.0) for _ in range(3)] == [False, False, True]
    low = trust.factor
    assert not any(lesson(trust, 800, 0, at_s=1.2) for _ in range(10))
    assert trust.factor == low
    for turn in range(20):
        lesson(trust, 800, 800, at_s=2.0 + turn)
    assert trust.factor > 0.9


def test_a_burst_of_equal_prompts_does_not_look_like_a_failing_cache() -> None:
    index, trust = PrefixIndex(), Trust()
    chain = Chain((1, 2), (400, 800))
    said = [index.insert(0, chain) for _ in range(50)]  # before any of them has a first token
    assert not any(lesson(trust, tokens, 0) for tokens in said)
    assert trust.factor == PRIOR
