"""Deciders on an invented world: paraphrases and near-misses of made-up questions."""

import random

import pytest

from heterodyne.caching.semantic.decision import AskReason, CacheAction, SemanticDecider
from heterodyne.caching.semantic.error_account import ErrorBound
from heterodyne.caching.semantic.reading import read
from heterodyne.caching.semantic.settings import SemanticSettings

THINGS = ("rice", "bread", "tea", "soup", "cheese", "fish", "beans", "pasta", "cake", "honey", "milk", "corn", "plums")
DEEDS = ("cook", "store", "freeze", "buy", "season", "serve", "wash", "cut", "dry", "smoke")


def pair(rng: random.Random):
    """A cached prompt, a new one, and whether they ask the same."""
    thing, deed = rng.choice(THINGS), rng.choice(DEEDS)
    cached = f"how do i {deed} {thing}"
    if rng.random() < 0.5:
        return read(cached), read(f"what is the best way to {deed} {thing}"), True
    return read(cached), read(f"how do i {deed} {rng.choice([each for each in THINGS if each != thing])}"), False


def run(decider: SemanticDecider, requests: int, seed: int = 1):
    """Hits and wrong answers."""
    rng, hits, wrong = random.Random(seed), 0, 0
    for _ in range(requests):
        cached, prompt, is_same = pair(rng)
        decision = decider.decide(prompt, cached, 0.9, rng.random())
        if decision.action is CacheAction.SERVE:
            hits, wrong = hits + 1, wrong + (not is_same)
        else:
            decider.learn(decision, is_same)
    return hits, wrong


def test_it_learns_to_serve_what_is_the_same_and_stays_within_the_bound():
    hits, wrong = run(SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.02))), 4000)
    assert wrong <= 0.02 * 4000
    assert hits > 1000  # of about 2000 paraphrases


def test_equal_inputs_give_equal_decisions():
    first, second = (
        run(SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.02))), 1500) for _ in range(2)
    )
    assert first == second


def test_per_hit_it_begins_with_what_is_free_and_stays_within_it():
    settings = SemanticSettings(error_bound=ErrorBound(per_request=0.005, per_hit=0.02))
    hits, wrong = run(SemanticDecider(settings), 4000)
    assert hits > 300  # it takes about 2000 requests before 11 wrong answers would be allowed
    assert wrong <= max(0.005 * 4000, 0.02 * hits)


def test_a_world_that_turns_round_does_not_break_the_bound():
    decider, rng, wrong = (
        SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.02))),
        random.Random(3),
        0,
    )
    for number in range(4000):
        cached, prompt, is_same = pair(rng)
        is_same = is_same != (number > 2000)
        decision = decider.decide(prompt, cached, 0.9, rng.random())
        if decision.action is CacheAction.SERVE:
            wrong += not is_same
        else:
            decider.learn(decision, is_same)
        assert wrong <= 0.02 * (number + 1)


def test_without_a_candidate_it_asks():
    decision = SemanticDecider(SemanticSettings()).decide(read("hi"), None, 0.0, 0.5)
    assert (decision.action, decision.reason) == (CacheAction.ASK, AskReason.NO_CANDIDATE)


def test_a_veto_is_never_served():
    decider = SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.2)))
    run(decider, 1500)
    for _ in range(200):
        decision = decider.decide(read("how do i cook 5 beans"), read("how do i cook 6 beans"), 1.0, 0.99)
        assert (decision.action, decision.reason, decision.rule) == (CacheAction.ASK, AskReason.DIFFERENCE, "number")
        decider.learn(decision, True)


def test_a_shadow_serves_nothing_and_measures_what_it_would_have_served():
    decider = SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.02), is_shadow=True))
    assert run(decider, 3000) == (0, 0)
    figures = decider.shadow_figures()
    assert figures.requests == 3000
    assert figures.hits > 700
    assert figures.wrong <= 0.02 * 3000


def test_a_shadow_decides_as_the_live_one_would():
    live = run(SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.02))), 2000)
    shadow = SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.02), is_shadow=True))
    run(shadow, 2000)
    assert (shadow.shadow_figures().hits, shadow.shadow_figures().wrong) == live


def test_going_live_keeps_what_was_learned_and_begins_a_new_account():
    decider = SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.02), is_shadow=True))
    run(decider, 3000)
    decider.go_live()
    assert decider.figures().requests == 0
    hits, wrong = run(decider, 3000, seed=5)
    assert hits > 700
    assert wrong <= 0.02 * 3000


def test_what_was_served_teaches_nothing():
    decider = SemanticDecider(SemanticSettings(error_bound=ErrorBound(per_request=0.2)))
    rng = random.Random(1)
    while True:
        cached, prompt, is_same = pair(rng)
        decision = decider.decide(prompt, cached, 0.9, rng.random())
        if decision.action is CacheAction.SERVE:
            break
        decider.learn(decision, is_same)
    with pytest.raises(AssertionError):
        decider.learn(decision, True)
