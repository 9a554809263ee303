"""Pure: what the evidence says of a candidate now: stop, go on looking, or good enough for the next stage."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.rollout.bounds import Bounds
from heterodyne.rollout.evidence import Evidence, harm_bounds
from heterodyne.rollout.metric import METRICS, Metric

ALPHA = 0.01  # false alarms of a whole rollout, all metrics and looks together
COMMON = 0.05  # of the baseline's requests, that a metric is seen in for its evidence to be waited for
FORECAST_SHARE = 0.95  # of the values of a metric, that a forecast is known for, to be judged by that
# What forecasts make of different loads may be wrong by this much of the difference: an idle candidate beside a busy
# baseline is judged with more room than one that has as much to do.
FORECAST_DOUBT = 1 / 3


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
    harm_at_load: Bounds | None = None  # beside what was forecast for the load that each had; None: no such forecast
    doubt: float = 0.0  # of those forecasts
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
        if candidate.of(metric).count or _is_common(metric, baseline)
    )
    if any(one.judgement is Judgement.BREACH for one in found):
        overall = Judgement.BREACH
    elif found and all(one.judgement is Judgement.ENOUGH for one in found if _is_common(METRICS[one.metric], baseline)):
        overall = Judgement.ENOUGH
    else:
        overall = Judgement.UNSURE
    return Verdict(judgement=overall if baseline.requests else Judgement.UNSURE, metrics=found)


def _judged(metric: Metric, candidate: Evidence, baseline: Evidence, tolerance: float, alpha: float) -> MetricVerdict:
    harm = harm_bounds(metric, candidate.of(metric), baseline.of(metric), alpha)
    harm_at_load, doubt = None, 0.0
    if metric.has_load and _has_forecasts(metric, candidate) and _has_forecasts(metric, baseline):
        harm_at_load = harm_bounds(metric, candidate.at_load(metric), baseline.at_load(metric), alpha)
        doubt = FORECAST_DOUBT * abs(_forecast(metric, candidate) - _forecast(metric, baseline))
    own = harm_at_load or harm  # what the version is to blame for, whatever there was to do
    judgement = Judgement.UNSURE
    if own.low > metric.breach + doubt:
        judgement = Judgement.BREACH
    elif own.high <= tolerance + doubt and harm.high <= tolerance:
        judgement = Judgement.ENOUGH
    return MetricVerdict(
        metric=metric.name,
        judgement=judgement,
        harm=harm,
        harm_at_load=harm_at_load,
        doubt=doubt,
        tolerance=tolerance,
        candidate_count=candidate.of(metric).count,
        baseline_count=baseline.of(metric).count,
    )


def _has_forecasts(metric: Metric, evidence: Evidence) -> bool:
    known = evidence.at_load(metric).count
    return known > 0 and known >= FORECAST_SHARE * evidence.of(metric).count


def _forecast(metric: Metric, evidence: Evidence) -> float:
    """The mean of the forecasts' logarithms: of a measured time, what is not its multiple."""
    measured, multiple = evidence.of(metric), evidence.at_load(metric)
    return measured.total / measured.count - multiple.total / multiple.count


def _is_common(metric: Metric, baseline: Evidence) -> bool:
    """A metric that hardly any request has would be waited for forever."""
    return baseline.of(metric).count > COMMON * baseline.requests
