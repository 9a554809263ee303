"""Every branch of the two moments of a cascade."""

from itertools import product

import pytest

from heterodyne.routing.cascade.decision import (
    CascadeReason,
    CascadeRule,
    CascadeStep,
    StageTimes,
    decide_first,
    decide_next,
)
from heterodyne.routing.cascade.judges.doubt import UNUSABLE
from heterodyne.routing.cascade.risk import RiskThreshold

TIMES = StageTimes(cheap_ms=200, judge_ms=50, big_ms=1000)


def up_to(threshold: float | None) -> RiskThreshold:
    return RiskThreshold(threshold=threshold, rows=500, kept_share=0.5, loss_share=0.01)


def rule(budget_ms: float | None = None, *, hard: bool = False, prompt_risk_max: float = 1.0) -> CascadeRule:
    return CascadeRule(
        alias="chat",
        cheap="small",
        big="large",
        latency_budget_ms=budget_ms,
        is_budget_hard=hard,
        prompt_risk_max=prompt_risk_max,
    )


@pytest.mark.parametrize(
    ("budget_ms", "prompt_risk", "judged", "routed", "step", "reason"),
    [
        (None, 0.5, up_to(0.3), up_to(0.3), "ask_cheap_first", "worth_a_try"),
        (1250, 0.5, up_to(0.3), up_to(0.3), "ask_cheap_first", "worth_a_try"),
        (1249, 0.5, up_to(0.3), up_to(0.3), "ask_big", "no_time_to_try"),
        (1249, 0.5, up_to(0.3), None, "ask_big", "no_time_to_try"),
        (1249, 0.2, up_to(0.3), None, "ask_big", "no_time_to_try"),
        (1249, 0.3, up_to(0.3), up_to(0.3), "ask_cheap", "easy_prompt"),
        (None, 0.95, up_to(0.3), up_to(0.3), "ask_big", "hard_prompt"),
        (None, 0.2, None, up_to(0.3), "ask_cheap", "easy_prompt"),
        (None, 0.4, None, up_to(0.3), "ask_big", "hard_prompt"),
        (None, 0.2, up_to(None), up_to(0.3), "ask_cheap", "easy_prompt"),
        (None, 0.0, None, None, "ask_big", "not_calibrated"),
        (None, 0.0, up_to(None), up_to(None), "ask_big", "not_calibrated"),
    ],
)
def test_what_is_asked_first(
    *,
    budget_ms: float | None,
    prompt_risk: float,
    judged: RiskThreshold | None,
    routed: RiskThreshold | None,
    step: str,
    reason: str,
) -> None:
    decision = decide_first(rule(budget_ms, prompt_risk_max=0.9), TIMES, prompt_risk, judged=judged, routed=routed)
    assert (decision.step, decision.reason) == (step, reason)


@pytest.mark.parametrize(
    ("risk", "threshold", "elapsed_ms", "hard", "step", "reason"),
    [
        (0.3, 0.3, 250, False, "keep", "within_bound"),
        (0.31, 0.3, 250, False, "escalate", "over_bound"),
        (0.31, 0.3, 250, True, "escalate", "over_bound"),
        (0.31, 0.3, 251, False, "escalate", "over_bound"),
        (0.31, 0.3, 251, True, "keep", "no_time_to_escalate"),
        (UNUSABLE, 0.3, 251, True, "escalate", "unusable_answer"),
        (None, 0.3, 250, False, "escalate", "not_judged"),
        (None, 0.3, 251, True, "keep", "no_time_to_escalate"),
        (0.0, None, 250, False, "escalate", "over_bound"),
    ],
)
def test_what_is_done_with_an_answer(
    *, risk: float | None, threshold: float | None, elapsed_ms: float, hard: bool, step: str, reason: str
) -> None:
    decision = decide_next(
        rule(1250, hard=hard), risk=risk, judged=up_to(threshold), elapsed_ms=elapsed_ms, big_ms=1000
    )
    assert (decision.step, decision.reason) == (step, reason)


def test_without_a_budget_nothing_is_late() -> None:
    decision = decide_next(rule(hard=True), risk=0.9, judged=up_to(0.3), elapsed_ms=1e9, big_ms=1e9)
    assert decision.step is CascadeStep.ESCALATE


def test_over_all_inputs_first_steps_and_next_steps_do_not_mix_and_budgets_hold() -> None:
    thresholds = (None, up_to(None), up_to(0.3))
    for budget_ms, risk, judged, routed in product(
        (None, 100, 1249, 1250), (0.0, 0.3, 0.5, 1.0), thresholds, thresholds
    ):
        first = decide_first(rule(budget_ms), TIMES, risk, judged=judged, routed=routed)
        assert first.step in (CascadeStep.ASK_BIG, CascadeStep.ASK_CHEAP, CascadeStep.ASK_CHEAP_FIRST)
        if first.step is CascadeStep.ASK_CHEAP_FIRST:
            assert budget_ms is None or budget_ms >= TIMES.all_ms
        if first.step is CascadeStep.ASK_CHEAP:
            assert routed is not None
            assert routed.keeps(risk)
    for budget_ms, risk, limit, hard in product(
        (None, 100, 1250), (None, 0.0, 0.3, 0.5, 1.0), (None, 0.3), (True, False)
    ):
        after = decide_next(rule(budget_ms, hard=hard), risk=risk, judged=up_to(limit), elapsed_ms=250, big_ms=1000)
        assert after.step in (CascadeStep.KEEP, CascadeStep.ESCALATE)
        if after.step is CascadeStep.KEEP and after.reason is not CascadeReason.NO_TIME_TO_ESCALATE:
            assert risk is not None
            assert up_to(limit).keeps(risk)
