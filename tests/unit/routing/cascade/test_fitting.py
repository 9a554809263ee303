"""From rows to thresholds that hold on rows that came later."""

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.routing.cascade.curve import quality_curve
from heterodyne.routing.cascade.fitted_cascade import CascadeScorer, decoded, encoded
from heterodyne.routing.cascade.fitting import answer_risks, bounded, fit_cascade, prompt_risks, qualities
from heterodyne.routing.cascade.risk import RiskBound, loss_share
from tests.unit.routing.cascade.observed import traffic

ROWS = traffic(1200)
LATER = traffic(2000, start=50_000)
FITTED = fit_cascade(ROWS, "small", "large", RiskBound(loss_share_max=0.08), seed=3)


def test_later_rows_lose_no_more_than_the_bound_and_judges_save_more_than_prompts() -> None:
    small, large = qualities(LATER, "small"), qualities(LATER, "large")
    assert FITTED.judged is not None
    assert FITTED.judged.threshold is not None
    assert FITTED.routed.threshold is not None
    by_answer = answer_risks(FITTED, LATER) <= FITTED.judged.threshold
    by_prompt = prompt_risks(FITTED, LATER) <= FITTED.routed.threshold
    assert loss_share(by_answer, small, large) <= 0.08
    assert loss_share(by_prompt, small, large) <= 0.08
    assert by_answer.mean() > 0.5
    assert by_prompt.mean() > 0.2
    judged = quality_curve(answer_risks(FITTED, LATER), small, large)
    routed = quality_curve(prompt_risks(FITTED, LATER), small, large)
    assert judged.gap_recovered > routed.gap_recovered > 0.6


def test_a_fit_is_the_same_each_time_and_outlives_its_file() -> None:
    again = fit_cascade(list(reversed(ROWS)), "small", "large", RiskBound(loss_share_max=0.08), seed=3)
    assert encoded(again) == encoded(FITTED)
    read = decoded("cascade.json", encoded(FITTED))
    assert read == FITTED
    row = LATER[0]
    assert CascadeScorer(read).prompt_risk(row.prompt) == CascadeScorer(FITTED).prompt_risk(row.prompt)
    assert fit_cascade(ROWS, "small", "large", RiskBound(loss_share_max=0.08), seed=4) != FITTED


def test_thresholds_follow_traffic_that_has_changed() -> None:
    harder = [row for row in LATER if row.models["small"].quality == 0 or row.prompt[-2] == "r"]
    stricter = bounded(FITTED, harder, RiskBound(loss_share_max=0.08))
    assert stricter.complexity == FITTED.complexity
    assert stricter.judged is not None
    assert FITTED.judged is not None
    assert stricter.judged.kept_share < FITTED.judged.kept_share
    assert stricter.card.bounded_rows == len(harder)


def test_a_judge_that_is_missing_at_run_time_is_not_guessed() -> None:
    scorer = CascadeScorer(FITTED)
    assert scorer.try_answer_risk("What?", {}) is None
    assert scorer.try_answer_risk("What?", {"consistency": 1.0}) == 1.0
    low, high = (scorer.try_answer_risk("What?", {"consistency": risk}) for risk in (0.1, 0.8))
    assert low is not None
    assert high is not None
    assert low < high < 1


def test_rows_without_judges_give_a_router_alone() -> None:
    fitted = fit_cascade(traffic(300, is_judged=False), "small", "large", RiskBound(loss_share_max=0.2), seed=0)
    assert (fitted.judged, fitted.blend, fitted.card.judges) == (None, None, ())
    assert fitted.routed.rows == fitted.card.bounded_rows
    assert CascadeScorer(fitted).try_answer_risk("What?", {"consistency": 0.1}) is None


def test_too_few_rows_and_foreign_files_are_refused() -> None:
    with pytest.raises(InvalidSpec, match="99 rows"):
        fit_cascade(ROWS[:99], "small", "large", RiskBound(), seed=0)
    with pytest.raises(InvalidSpec, match="prompts that differ"):
        fit_cascade([ROWS[0]] * 200, "small", "large", RiskBound(), seed=0)
    with pytest.raises(InvalidSpec, match=r"x\.json: not a fitted cascade"):
        decoded("x.json", b"{}")
    with pytest.raises(InvalidSpec, match="fit again"):
        decoded("x.json", encoded(FITTED).replace(b"heterodyne-cascade-1", b"heterodyne-cascade-0"))
    with pytest.raises(InvalidSpec, match="this code computes"):
        decoded("x.json", encoded(FITTED).replace(b'"features_version": "1"', b'"features_version": "0"'))
