"""What counters say, as rows of guards, caches and cascades."""

import pytest

from heterodyne.caching.settings import CacheSettings
from heterodyne.console.policies.cache_rows import cache_rows
from heterodyne.console.policies.cascade_rows import SetCascade, cascade_rows, share_max
from heterodyne.console.policies.counts import PolicyCounts
from heterodyne.console.policies.guard_rows import guard_failures, guard_rows
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.safety.settings import GuardSettings
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Meter

NOTHING = PolicyCounts({})


def counts(*rows: tuple[Meter, tuple[str, ...], float]) -> PolicyCounts:
    return PolicyCounts({(meter.name, labels): amount for meter, labels, amount in rows})


def test_policies_are_told_in_the_order_of_the_settings_and_then_those_that_are_gone() -> None:
    found = metrics.guard_verdicts
    seen = counts(
        (found, ("private", "pii", "email", "mask", "input"), 3),
        (found, ("private", "pii", "iban", "mask", "output"), 5),
        (found, ("gone", "words", "banned_word", "block", "input"), 1),
        (metrics.guard_failures, ("input",), 2),
    )
    minute = counts((found, ("private", "pii", "email", "mask", "input"), 1))
    settings = {"quiet": GuardSettings(guard="secrets"), "private": GuardSettings(guard="pii", action="mask")}
    quiet, private, gone = guard_rows(settings, seen, minute)
    assert (quiet.policy, quiet.found, quiet.rules, quiet.is_set) == ("quiet", 0, (), True)
    assert (private.found, private.found_last_minute, [one.rule for one in private.rules]) == (8, 1, ["iban", "email"])
    assert (gone.policy, gone.guard, gone.action, gone.is_set) == ("gone", "words", "block", False)
    assert [(one.direction, one.failures) for one in guard_failures(seen, minute)] == [("input", 2), ("output", 0)]


def test_a_cache_tells_its_hit_rate_over_all_models_and_what_it_saved() -> None:
    seen = counts(
        (metrics.cache_answers, ("kept", "a", "hit"), 6),
        (metrics.cache_answers, ("kept", "b", "similar"), 3),
        (metrics.cache_answers, ("kept", "a", "miss"), 9),
        (metrics.cache_answers, ("kept", "a", "followed"), 2),
        (metrics.cache_saved_usd, ("kept", "a"), 0.5),
    )
    [row] = cache_rows({"kept": CacheSettings()}, seen, NOTHING, NOTHING)
    figures = row.figures
    assert (figures.hits, figures.similar, figures.misses, figures.followed) == (6, 3, 9, 2)
    assert (figures.hit_share, figures.saved_usd, row.semantic) == (0.5, 0.5, None)
    assert row.last_minute.hit_share is None


def test_a_semantic_cache_tells_what_was_wrong_and_the_most_that_may_be() -> None:
    decided, compared = metrics.semantic_cache_decisions, metrics.semantic_cache_compared
    seen = counts(
        *((decided, ("near", "m", action), n) for action, n in (("serve", 50), ("ask", 30), ("explore", 20))),
        (compared, ("near", "m", "explore", "same"), 18),
        (compared, ("near", "m", "explore", "different"), 2),
        (compared, ("near", "m", "ask", "different"), 25),
    )
    gauges = counts(
        (metrics.semantic_cache_requests, ("near",), 1000), (metrics.semantic_cache_wrong_max, ("near",), 8)
    )
    settings = {"near": CacheSettings(semantic="serve", embedding_model="e", error_share_max=0.01)}
    semantic = cache_rows(settings, seen, NOTHING, gauges)[0].semantic
    assert semantic is not None
    assert (semantic.decided, semantic.served, semantic.would_serve) == (100, 50, 20)
    assert (semantic.compared, semantic.wrong, semantic.wrong_share) == (20, 2, 0.1)
    assert (semantic.account_wrong_max, semantic.account_wrong_share_max, semantic.error_share_max) == (8, 0.008, 0.01)
    fresh = cache_rows(settings, NOTHING, NOTHING, NOTHING)[0].semantic
    assert fresh is not None
    assert (fresh.wrong_share, fresh.account_wrong_share_max) == (None, None)


def test_a_cascade_tells_dollars_and_time_beside_the_big_model_alone() -> None:
    decided, usd, took = metrics.cascade_decisions, metrics.cascade_usd, metrics.cascade_seconds
    seen = counts(
        (decided, ("smart", "cheap", "within_bound"), 60),
        (decided, ("smart", "big", "over_bound"), 20),
        (decided, ("smart", "cheap", "easy_prompt"), 15),
        (decided, ("smart", "big", "hard_prompt"), 5),
        *((usd, ("smart", part), n) for part, n in (("tried", 1.0), ("audited", 1.0), ("big", 5.0), ("instead", 15.0))),
        (took, ("smart", "answered"), 50.0),
        (took, ("smart", "instead"), 100.0),
        (metrics.cascade_audits, ("smart", "same"), 99),
        (metrics.cascade_audits, ("smart", "different"), 1),
        (metrics.cascade_audits, ("smart", "unknown"), 7),
    )
    known = SetCascade(settings=CascadeSettings(fitted="x", audit_share=0.1), fitted=None, problem="x: gone")
    [row] = cascade_rows({"smart": known}, seen, NOTHING)
    one = row.figures
    assert (one.requests, one.kept, one.escalated, one.cheap_by_prompt, one.big_by_prompt) == (100, 60, 20, 15, 5)
    assert (one.saved_usd, one.cost_share) == (13.0, 0.35)
    assert (one.answered_ms, one.big_ms) == (500.0, 1000.0)
    assert (row.different_share, row.problem, row.loss_share_max) == (0.01, "x: gone", None)
    assert 0.01 < row.different_share_max < 0.07
    assert row.reasons[0].reason == "within_bound"
    assert row.last_minute.cost_share is None


@pytest.mark.parametrize(
    ("count", "of", "least", "most"), [(0, 100, 0.029, 0.031), (5, 5, 1.0, 1.0), (50, 1000, 0.061, 0.071)]
)
def test_the_upper_limit_of_a_share_is_over_it_and_no_further_than_it_must(count, of, least, most) -> None:
    assert least <= share_max(count, of) <= most
