"""One cascade that serves: what was fitted, the rule of its name, and the judges that it asks."""

from collections.abc import Mapping
from typing import Any, final

from heterodyne.routing.cascade.chat import cheap_body, form_of, prompt_of, samples_body
from heterodyne.routing.cascade.decision import (
    CascadeDecision,
    CascadeReason,
    CascadeRule,
    CascadeStep,
    StageTimes,
    decide_first,
    decide_next,
)
from heterodyne.routing.cascade.fitted_cascade import CascadeScorer, FittedCascade
from heterodyne.routing.cascade.judges.catalogue import judged
from heterodyne.routing.cascade.judges.doubt import JudgedAnswer
from heterodyne.routing.cascade.settings import CascadeSettings

Json = dict[str, Any]
NOT_JUDGED = CascadeDecision(step=CascadeStep.ESCALATE, reason=CascadeReason.NOT_JUDGED)


@final
class Cascade:
    """Decides for the requests of one name. Pure but for what it holds."""

    __slots__ = ("_scorer", "judges", "rule", "settings")

    def __init__(self, name: str, settings: CascadeSettings, fitted: FittedCascade) -> None:
        self.settings = settings
        self._scorer = CascadeScorer(fitted)
        self.judges = frozenset(fitted.card.judges)
        self.rule = CascadeRule(
            alias=name,
            cheap=fitted.cheap,
            big=fitted.big,
            latency_budget_ms=settings.latency_budget_ms,
            is_budget_hard=settings.keeps_when_late,
            prompt_risk_max=settings.prompt_risk_max,
        )

    @property
    def verifier_model(self) -> str:
        """Empty: none is asked."""
        return self.settings.verifier_model if "verifier" in self.judges else ""

    def first(self, body: Mapping[str, Any], times: StageTimes) -> CascadeDecision:
        """Before anything is asked."""
        fitted = self._scorer.fitted
        risk = self._scorer.prompt_risk(prompt_of(body))
        return decide_first(self.rule, times, risk, judged=fitted.judged, routed=fitted.routed)

    def next(
        self, body: Mapping[str, Any], answer: JudgedAnswer | None, *, elapsed_ms: float, big_ms: float
    ) -> CascadeDecision:
        """Once the cheap answer is there; None: there is none."""
        threshold = self._scorer.fitted.judged
        if answer is None or threshold is None:
            return NOT_JUDGED
        doubts = judged(answer, form_of(body), self.judges)
        risk = self._scorer.try_answer_risk(prompt_of(body), {name: one.risk for name, one in doubts.items()})
        return decide_next(self.rule, risk=risk, judged=threshold, elapsed_ms=elapsed_ms, big_ms=big_ms)

    def questions(self, body: Mapping[str, Any]) -> list[Json]:
        """What the cheap model is asked at once: for its answer, and for samples where a judge compares them."""
        cheap = cheap_body(body, self.rule.cheap, with_logprobs="logprobs" in self.judges)
        if "consistency" not in self.judges:
            return [cheap]
        return [cheap, samples_body(cheap, self.settings.samples)]
