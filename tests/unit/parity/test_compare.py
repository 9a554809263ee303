"""Two ways to run one model: what they differ in, as numbers."""

import math

import pytest

from heterodyne.parity.compare import compare, first_split, named_kl, perplexity, preference
from heterodyne.parity.scored_token import ScoredToken


def step(token: int, *shares: float) -> ScoredToken:
    """The tokens 0, 1, … with these shares, the likeliest first."""
    top = sorted(((id, math.log(share)) for id, share in enumerate(shares)), key=lambda one: -one[1])
    return ScoredToken(token, dict(top)[token], dict(top))


ONE = step(0, 0.5, 0.3, 0.1)
OTHER = step(0, 0.3, 0.5, 0.1)


def test_the_same_has_no_distance() -> None:
    found = compare([(ONE, ONE), (OTHER, OTHER)], tie_nats=0.1)
    assert (found.positions, found.top1_agreement, found.unexplained_share) == (2, 1.0, 0.0)
    assert found.kl_nats == pytest.approx(0.0, abs=1e-12)
    assert found.perplexity_ratio == pytest.approx(1.0)
    assert found.first_split is None


def test_kl_is_that_of_the_named_tokens_and_the_rest_as_one() -> None:
    expected = 0.5 * math.log(0.5 / 0.3) + 0.3 * math.log(0.3 / 0.5)
    assert named_kl(ONE.top, OTHER.top) == pytest.approx(expected)


def test_those_that_name_nothing_in_common_are_far_apart() -> None:
    elsewhere = {7: math.log(0.9), 8: math.log(0.01)}
    assert named_kl(ONE.top, elsewhere) > 2.0


def test_a_split_at_a_near_tie_is_explained_and_another_is_not() -> None:
    gap = math.log(0.5 / 0.3)
    assert preference(ONE, 1) == pytest.approx(gap)
    assert compare([(ONE, OTHER)], tie_nats=gap + 0.01).unexplained_share == 0.0
    assert compare([(ONE, OTHER)], tie_nats=gap - 0.01).unexplained_share == 1.0
    assert compare([(ONE, ScoredToken(9, -0.1, {9: -0.1}))], tie_nats=5.0).unexplained_share == 1.0, (
        "it was not even named"
    )


def test_the_earliest_split_of_all_continuations_is_told() -> None:
    late = [(ONE, ONE), (ONE, ONE), (ONE, step(1, 0.4, 0.5))]
    early = [(ONE, ONE), (ONE, step(2, 0.2, 0.2, 0.5))]
    assert first_split(late) == (2, pytest.approx(math.log(0.5 / 0.3)))
    found = compare([(ONE, ONE)], tie_nats=0.1, continuations=[late, early, [(ONE, ONE)]])
    assert (found.continued_tokens, found.first_split) == (6, 1)
    assert found.first_split_gap_nats == pytest.approx(math.log(0.5 / 0.1))


def test_perplexity_is_of_the_tokens_that_stand_there() -> None:
    assert perplexity([step(0, 0.5), step(0, 0.125)]) == pytest.approx(4.0)


def test_nothing_is_not_compared() -> None:
    with pytest.raises(ValueError, match="no position"):
        compare([], tie_nats=0.1)
