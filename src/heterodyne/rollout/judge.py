"""Pure: what the evidence says of a candidate now: stop, go on looking, or good enough for the next stage."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.rollout.bounds import Bounds
from heterodyne.rollout.evidence import Evidence, harm_bounds
from heterodyne.rollout.metric import METRICS, Metric

ALPHA = 0.01  # false alarms of a whole rollout, all metrics and looks together
COMMON = 0.05  # of a side's requests, that a metric is seen in for its evidence to be waited for


class Judgement(StrEnum):
    """What follows."""

    BREACH = "breach"  # surely worse than it may be
    UNSURE = "unsure"
    ENOUGH = "enough"  # surely not worse than the stage tolerates


class MetricVerdict(Struct, frozen=True, kw_only=True):
    """One metric, with what it was judged by."""

    metric: str
    judgement: Judgement
    harm: Bounds
    tolerance: float
    candidate_count: int
    baseline_count: int


class Verdict(Struct, frozen=True, kw_only=True):
    """All metrics together."""

    judgement: Judgement
    metrics: tuple[MetricVerdict, ...]

    @property
    def breaches(self) -> tuple[str, ...]:
        """The metrics that end the rollout."""
        return tuple(one.metric for one in self.metrics if one.judgement is Judgement.BREACH)


def judge(candidate: Evidence, baseline: Evidence, *, strictness: float = 1.0, alpha: float = ALPHA) -> Verdict:
    """`strictness` divides what the first stage tolerates: later stages ask for more."""
    share = alpha / len(METRICS)
    found = tuple(
        _judged(metric, candidate, baseline, metric.tolerance / strictness, share)
        for metric in METRICS.values()
        if candidate.of(metric).count or _is_common(metric, candidate, baseline)
    )
    if any(one.judgement is Judgement.BREACH for one in found):
        overall = Judgement.BREACH
    elif found and all(
        one.judgement is Judgement.ENOUGH for one in found if _is_common(METRICS[one.metric], candidate, baseline)
    ):
        overall = Judgement.ENOUGH
    else:
        overall = Judgement.UNSURE
    return Verdict(judgement=overall if baseline.requests else Judgement.UNSURE, metrics=found)


def _judged(metric: Metric, candidate: Evidence, baseline: Evidence, tolerance: float, alpha: float) -> MetricVerdict:
    harm = harm_bounds(metric, candidate, baseline, alpha)
    judgement = Judgement.UNSURE
    if harm.low > metric.breach:
        judgement = Judgement.BREACH
    elif harm.high <= tolerance:
        judgement = Judgement.ENOUGH
    return MetricVerdict(
        metric=metric.name,
        judgement=judgement,
        harm=harm,
        tolerance=tolerance,
        candidate_count=candidate.of(metric).count,
        baseline_count=baseline.of(metric).count,
    )


def _is_common(metric: Metric, *sides: Evidence) -> bool:
    """A metric that hardly any request has would be waited for forever. One side is enough: times are counted in the
    baseline's control group alone."""
    return any(side.of(metric).count > COMMON * side.requests for side in sides)
