"""Where a rollout stands: its stages, what is compared, and what the evidence says of each metric."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.rollout.judge import Judgement, MetricVerdict, Verdict, judge
from heterodyne.rollout.machine import Rollout, RolloutStatus, share_of
from heterodyne.rollout.metric import METRICS, Kind
from heterodyne.rollout.readable import try_share


class StageMark(StrEnum):
    """How far a stage is."""

    PASSED = "passed"
    CURRENT = "current"
    STOPPED = "stopped"  # the rollout was taken back in it
    AHEAD = "ahead"


class StageRow(Struct, frozen=True, kw_only=True):
    """One stage of the plan."""

    name: str
    mark: StageMark


class EvidenceRow(Struct, frozen=True, kw_only=True):
    """One metric. Harm is a share of one: of requests where it is a rate or a score, of the baseline where a ratio."""

    metric: str
    kind: Kind
    judgement: Judgement
    low: float | None  # the candidate is surely worse by more; None: nothing is known
    high: float | None  # surely by less
    breach: float  # surely worse by more than this ends the rollout
    tolerance: float  # surely worse by no more than this is enough for the stage
    candidate_count: int
    baseline_count: int


class RolloutStanding(Struct, frozen=True, kw_only=True):
    """What follows from a rollout as it was saved, and from what its workers were told."""

    rollout: str  # its id
    stage: str
    share: float  # of conversations that begin now, those that the candidate gets
    stages: tuple[StageRow, ...]
    judgement: Judgement
    evidence: tuple[EvidenceRow, ...]
    candidate_replicas: tuple[str, ...] = ()  # whose times are compared at the same load; none: both sides as a whole
    control_replicas: tuple[str, ...] = ()


def standing_of(rollout: Rollout, split: RolloutSplit | None = None) -> RolloutStanding:
    """`split` is what the workers go by, where it is this rollout's."""
    verdict = judge(rollout.candidate_evidence, rollout.baseline_evidence, strictness=rollout.stage.strictness)
    told = split if split is not None and split.rollout == rollout.id else None
    return RolloutStanding(
        rollout=rollout.id,
        stage=rollout.stage.name,
        share=share_of(rollout),
        stages=tuple(
            StageRow(name=stage.name, mark=_mark(rollout, number)) for number, stage in enumerate(rollout.plan.stages)
        ),
        judgement=verdict.judgement,
        evidence=evidence_of(verdict),
        candidate_replicas=() if told is None else told.candidate_replicas,
        control_replicas=() if told is None else told.control_replicas,
    )


def evidence_of(verdict: Verdict) -> tuple[EvidenceRow, ...]:
    """Of each metric that was judged."""
    return tuple(map(_row, verdict.metrics))


def _mark(rollout: Rollout, number: int) -> StageMark:
    if number < rollout.stage_number or rollout.status is RolloutStatus.COMPLETED:
        return StageMark.PASSED
    if number > rollout.stage_number:
        return StageMark.AHEAD
    return StageMark.STOPPED if rollout.is_ended else StageMark.CURRENT


def _row(verdict: MetricVerdict) -> EvidenceRow:
    metric = METRICS[verdict.metric]
    high = try_share(metric, verdict.harm.high)
    breach, tolerance = (try_share(metric, harm) for harm in (metric.breach, verdict.tolerance))
    assert breach is not None
    assert tolerance is not None
    return EvidenceRow(
        metric=metric.name,
        kind=metric.kind,
        judgement=verdict.judgement,
        # A metric that harms either way differs by nothing at least, which is always so and says nothing.
        low=None if high is None else try_share(metric, verdict.harm.low),
        high=high,
        breach=breach,
        tolerance=tolerance,
        candidate_count=verdict.candidate_count,
        baseline_count=verdict.baseline_count,
    )
