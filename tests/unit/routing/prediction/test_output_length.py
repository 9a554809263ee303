"""How long an answer will be, by who asks."""

from random import Random

import pytest

from heterodyne.routing.prediction.output_length import GROUPS_MAX, TOKENS_PRIOR, OutputLengths


def test_somebody_new_gets_the_usual_length() -> None:
    assert OutputLengths().expect("anybody", None) == TOKENS_PRIOR


def test_no_answer_is_expected_to_be_longer_than_it_may_be() -> None:
    lengths = OutputLengths()
    assert lengths.expect("anybody", 16) == 16
    for _ in range(50):
        lengths.learn("a", 1000)
    assert lengths.expect("a", 100) == 100
    assert lengths.expect("a", 5000) == pytest.approx(1000)


def test_the_first_answers_count_alike() -> None:
    lengths = OutputLengths()
    for tokens in (10, 20, 30, 40):
        lengths.learn("a", tokens)
    assert lengths.expect("a", None) == pytest.approx(25)


def test_it_finds_the_mean_and_follows_it() -> None:
    lengths, random = OutputLengths(), Random(1)
    for _ in range(500):
        lengths.learn("a", int(random.expovariate(1 / 300)))
    assert lengths.expect("a", None) == pytest.approx(300, rel=0.35)
    for _ in range(200):
        lengths.learn("a", 20)
    assert lengths.expect("a", None) == pytest.approx(20, rel=0.1)


def test_one_askers_answers_say_nothing_of_anothers() -> None:
    lengths = OutputLengths()
    for _ in range(50):
        lengths.learn(("tenant", "model", "batch"), 4000)
    assert lengths.expect(("other", "model", "batch"), None) == TOKENS_PRIOR


def test_it_remembers_only_so_many_and_those_that_came_last() -> None:
    lengths = OutputLengths()
    lengths.learn("old", 7)
    for number in range(GROUPS_MAX):
        lengths.learn(number, 9)
    assert len(lengths) == GROUPS_MAX
    assert lengths.expect("old", None) == TOKENS_PRIOR
    assert lengths.expect(0, None) == 9
