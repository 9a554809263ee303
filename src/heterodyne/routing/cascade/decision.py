"""Which model is asked first, and whether its answer is kept: the two moments of a cascade, each with a reason."""

import enum

from msgspec import Struct

from heterodyne.routing.cascade.judges.doubt import UNUSABLE
from heterodyne.routing.cascade.risk import RiskThreshold


class CascadeStep(enum.StrEnum):
    """What is done next."""

    ASK_CHEAP_FIRST = "ask_cheap_first"  # its answer will be judged
    ASK_CHEAP = "ask_cheap"  # its answer will do: the prompt alone says so
    ASK_BIG = "ask_big"
    KEEP = "keep"
    ESCALATE = "escalate"


class CascadeReason(enum.StrEnum):
    """Why, in a word that metrics can count."""

    WORTH_A_TRY = "worth_a_try"
    EASY_PROMPT = "easy_prompt"  # by the complexity router, where there is no time or no judge to try
    HARD_PROMPT = "hard_prompt"  # cheap answers to prompts like it are escalated anyway
    NO_TIME_TO_TRY = "no_time_to_try"
    NOT_CALIBRATED = "not_calibrated"
    WITHIN_BOUND = "within_bound"
    OVER_BOUND = "over_bound"
    UNUSABLE_ANSWER = "unusable_answer"
    NOT_JUDGED = "not_judged"  # a judge is missing that the bound was calibrated with
    NO_TIME_TO_ESCALATE = "no_time_to_escalate"


class CascadeRule(Struct, frozen=True, kw_only=True):
    """How one alias is served by two models."""

    alias: str
    cheap: str
    big: str
    latency_budget_ms: float | None = None  # None: an answer may take both models' time
    is_budget_hard: bool = False  # a late answer is worse than a doubtful one; the bound is then no promise
    prompt_risk_max: float = 1.0  # as the scorer tells it: above, the cheap model is not tried


class StageTimes(Struct, frozen=True, kw_only=True):
    """What each stage is predicted to take."""

    cheap_ms: float
    judge_ms: float
    big_ms: float

    @property
    def all_ms(self) -> float:
        return self.cheap_ms + self.judge_ms + self.big_ms


class CascadeDecision(Struct, frozen=True, kw_only=True):
    """One step and its reason."""

    step: CascadeStep
    reason: CascadeReason


def decide_first(
    rule: CascadeRule,
    times: StageTimes,
    prompt_risk: float,
    *,
    judged: RiskThreshold | None,
    routed: RiskThreshold | None,
) -> CascadeDecision:
    """Before anything is asked; `judged` is for answers, `routed` for prompts alone, None where not calibrated."""
    can_judge = judged is not None and judged.threshold is not None
    can_route = routed is not None and routed.threshold is not None
    if not can_judge and not can_route:
        return _decision(CascadeStep.ASK_BIG, CascadeReason.NOT_CALIBRATED)
    has_time = rule.latency_budget_ms is None or times.all_ms <= rule.latency_budget_ms
    if can_judge and has_time:
        if prompt_risk > rule.prompt_risk_max:
            return _decision(CascadeStep.ASK_BIG, CascadeReason.HARD_PROMPT)
        return _decision(CascadeStep.ASK_CHEAP_FIRST, CascadeReason.WORTH_A_TRY)
    if routed is not None and routed.keeps(prompt_risk):
        return _decision(CascadeStep.ASK_CHEAP, CascadeReason.EASY_PROMPT)
    return _decision(CascadeStep.ASK_BIG, CascadeReason.NO_TIME_TO_TRY if can_judge else CascadeReason.HARD_PROMPT)


def decide_next(
    rule: CascadeRule, *, risk: float | None, judged: RiskThreshold, elapsed_ms: float, big_ms: float
) -> CascadeDecision:
    """Once the cheap answer is judged; a risk of None is one that could not be told."""
    if risk is not None and judged.keeps(risk):
        return _decision(CascadeStep.KEEP, CascadeReason.WITHIN_BOUND)
    if risk == UNUSABLE:  # late is better than nothing that can be used
        return _decision(CascadeStep.ESCALATE, CascadeReason.UNUSABLE_ANSWER)
    is_late = rule.latency_budget_ms is not None and elapsed_ms + big_ms > rule.latency_budget_ms
    if is_late and rule.is_budget_hard:
        return _decision(CascadeStep.KEEP, CascadeReason.NO_TIME_TO_ESCALATE)
    return _decision(CascadeStep.ESCALATE, CascadeReason.NOT_JUDGED if risk is None else CascadeReason.OVER_BOUND)


def _decision(step: CascadeStep, reason: CascadeReason) -> CascadeDecision:
    return CascadeDecision(step=step, reason=reason)
