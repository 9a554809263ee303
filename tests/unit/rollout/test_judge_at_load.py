"""Times are judged at equal load: an idle candidate is not faster for that, and a crowded one not worse."""

import math
from random import Random

import pytest

from heterodyne.rollout.evidence import Evidence, seen
from heterodyne.rollout.judge import Judgement, MetricVerdict, judge
from heterodyne.rollout.metric import at_load

USUAL_MS, SCATTER = 200.0, 0.1


def side(seed: int, *, load: float, slower: float = 1.0, explained: float = 1.0, count: int = 2000) -> Evidence:
    """`load`: how many times as long requests take for what else there is to do; of that forecasts see a part."""
    random, found = Random(seed), Evidence()
    for _ in range(count):
        taken_ms = USUAL_MS * load * slower * math.exp(random.gauss(0.0, SCATTER))
        forecast_ms = USUAL_MS * load**explained
        found = found.plus(seen({"errors": 0.0, "ttft": taken_ms, at_load("ttft"): taken_ms / forecast_ms}))
    return found


def verdict(candidate: Evidence, baseline: Evidence) -> MetricVerdict:
    return next(one for one in judge(candidate, baseline).metrics if one.metric == "ttft")


def test_a_slower_candidate_that_is_idle_is_taken_back() -> None:
    found = verdict(side(1, load=1.0, slower=1.3), side(2, load=1.5))
    assert found.harm.high < 0.0, "as measured it is faster"
    assert found.judgement is Judgement.BREACH
    assert found.harm_at_load is not None
    assert found.harm_at_load.low < math.log(1.3) < found.harm_at_load.high


@pytest.mark.parametrize("explained", [0.7, 1.0, 1.3])
@pytest.mark.parametrize(("load", "of_baseline"), [(1.0, 1.5), (1.5, 1.0), (1.0, 1.0)])
def test_one_as_good_is_not_taken_back_for_what_forecasts_get_wrong(
    load: float, of_baseline: float, explained: float
) -> None:
    found = verdict(side(1, load=load, explained=explained), side(2, load=of_baseline, explained=explained))
    assert found.judgement is not Judgement.BREACH


def test_one_that_is_short_of_replicas_waits_for_more_of_them() -> None:
    found = verdict(side(1, load=1.5), side(2, load=1.0))
    assert found.harm.low > math.log(1.25), "users notice"
    assert found.judgement is Judgement.UNSURE


def test_one_as_good_with_as_much_to_do_goes_on() -> None:
    assert verdict(side(1, load=1.2), side(2, load=1.2)).judgement is Judgement.ENOUGH


def test_a_little_slower_at_the_same_load_is_noticed() -> None:
    assert verdict(side(1, load=1.2, slower=1.1), side(2, load=1.2)).judgement is Judgement.BREACH


def test_without_forecasts_of_both_it_is_judged_as_measured() -> None:
    raw = seen({"errors": 0.0, "ttft": USUAL_MS})
    baseline = Evidence()
    for _ in range(100):
        baseline = baseline.plus(raw)
    found = verdict(side(1, load=1.5), baseline)
    assert found.harm_at_load is None
    assert found.judgement is Judgement.BREACH
