"""Pure: where a rollout stands, and what comes next. The control loop feeds it and carries out what it says.

    state = begin(...)
    state = checked(state, passed, why, now)   of smoke, golden questions and parity: yes or no
    state = shadowed(state, seen, now)   of copies: what was seen since the last time
    state = observed(state, candidate, baseline, now)   of a canary: the same
    state = paused / promoted / aborted(state, who, now)   by hand
    share_of(state)   what the router gives to the candidate

A rollout ends once: completed, rolled back or aborted; after each of them the share says who serves.
"""

from enum import StrEnum

from msgspec import Struct, structs

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.rollout.evidence import Evidence
from heterodyne.rollout.golden import GoldenSet
from heterodyne.rollout.groups import NO_GROUPS, TrialGroups
from heterodyne.rollout.judge import Judgement, Verdict, judge
from heterodyne.rollout.plan import RolloutPlan, Stage, StageKind
from heterodyne.rollout.shadow import NO_COPIES, ShadowSeen, judge_copies

DEFAULT_PLAN = RolloutPlan()
STEPS_MAX = 1000  # that are kept of one rollout
CHECKS = (StageKind.SMOKE, StageKind.GOLDEN, StageKind.PARITY)
WITH_USERS = (StageKind.CANARY, StageKind.FULL)
COPIES_PER_S = 2.0  # of one worker


class RolloutStatus(StrEnum):
    """Whether it goes on."""

    RUNNING = "running"
    PAUSED = "paused"  # the share stays as it is; a breach still ends it
    COMPLETED = "completed"
    ROLLED_BACK = "rolled_back"
    ABORTED = "aborted"


ENDED = (RolloutStatus.COMPLETED, RolloutStatus.ROLLED_BACK, RolloutStatus.ABORTED)


class RolloutStep(Struct, frozen=True, kw_only=True):
    """One thing that happened, with what it rests on."""

    at: float
    stage: str
    what: str  # begun, passed, failed, promoted, rolled_back, paused, resumed, aborted, completed
    why: str = ""
    who: str = ""  # of what was done by hand
    verdict: Verdict | None = None


class Rollout(Struct, frozen=True, kw_only=True):
    """One candidate of one model."""

    id: str
    model: str
    baseline: tuple[str, ...]  # pools
    candidate: tuple[str, ...]
    began_at: float  # seconds since the epoch
    plan: RolloutPlan = DEFAULT_PLAN
    golden: GoldenSet | None = None  # None: its plan asks for none
    has_control: bool = True  # where the baseline can spare replicas for one
    stage_number: int = 0
    status: RolloutStatus = RolloutStatus.RUNNING
    candidate_evidence: Evidence = Evidence()  # of users' requests since the canary began
    baseline_evidence: Evidence = Evidence()
    shadow: ShadowSeen = NO_COPIES
    steps: tuple[RolloutStep, ...] = ()

    @property
    def stage(self) -> Stage:
        """Where it is."""
        return self.plan.stages[self.stage_number]

    @property
    def is_ended(self) -> bool:
        return self.status in ENDED


def begin(
    rollout_id: str,
    model: str,
    *,
    baseline: tuple[str, ...],
    candidate: tuple[str, ...],
    plan: RolloutPlan = DEFAULT_PLAN,
    golden: GoldenSet | None = None,
    has_control: bool = True,
    now: float,
) -> Rollout:
    """The first stage begins. Both sides are pools of the model, and none is on both."""
    if both := set(baseline) & set(candidate):
        raise SettingsInvalid(f"{model}: {', '.join(sorted(both))} cannot be both the baseline and the candidate")
    if not baseline or not candidate:
        raise SettingsInvalid(f"{model}: a rollout needs a pool to go to and one to come from")
    rollout = Rollout(
        id=rollout_id,
        model=model,
        baseline=baseline,
        candidate=candidate,
        plan=plan if golden is None else plan.with_golden(),
        golden=golden,
        has_control=has_control,
        began_at=now,
    )
    return _noted(rollout, now, "begun")


def share_of(rollout: Rollout) -> float:
    """Of conversations that begin now, those that the candidate gets."""
    if rollout.status is RolloutStatus.COMPLETED:
        return 1.0
    if rollout.status in (RolloutStatus.ROLLED_BACK, RolloutStatus.ABORTED):
        return 0.0
    return rollout.stage.share if rollout.stage.kind in WITH_USERS else 0.0


def split_of(rollout: Rollout, groups: TrialGroups = NO_GROUPS) -> RolloutSplit:
    """The same for the data plane, with what was so a stage before."""
    before = 0.0
    if rollout.stage_number:
        earlier = rollout.plan.stages[rollout.stage_number - 1]
        before = earlier.share if earlier.kind is StageKind.CANARY else 0.0
    return RolloutSplit(
        rollout=rollout.id,
        candidate_pools=rollout.candidate,
        baseline_pools=rollout.baseline,
        share=share_of(rollout),
        share_before=before,
        is_completed=rollout.status is RolloutStatus.COMPLETED,
        candidate_replicas=groups.candidate,
        control_replicas=groups.control,
        copies_per_s=COPIES_PER_S if rollout.stage.kind is StageKind.SHADOW and not rollout.is_ended else 0.0,
    )


def checked(rollout: Rollout, *, passed: bool, why: str, now: float) -> Rollout:
    """A stage of yes or no has its answer."""
    if rollout.is_ended or rollout.stage.kind not in CHECKS:
        return rollout
    if not passed:
        return _ended(rollout, RolloutStatus.ROLLED_BACK, now, "rolled_back", why=why)
    passed_it = _noted(rollout, now, "passed", why=why)
    return passed_it if rollout.status is RolloutStatus.PAUSED else _advanced(passed_it, now)


def observed(rollout: Rollout, candidate: Evidence, baseline: Evidence, now: float) -> Rollout:
    """More was seen of both; stops at a breach, goes on when there is enough."""
    if rollout.is_ended or rollout.stage.kind not in WITH_USERS:
        return rollout
    rollout = structs.replace(
        rollout,
        candidate_evidence=rollout.candidate_evidence.plus(candidate),
        baseline_evidence=rollout.baseline_evidence.plus(baseline),
    )
    verdict = judge(rollout.candidate_evidence, rollout.baseline_evidence, strictness=rollout.stage.strictness)
    if verdict.judgement is Judgement.BREACH:
        why = f"surely worse: {', '.join(verdict.breaches)}"
        return _ended(rollout, RolloutStatus.ROLLED_BACK, now, "rolled_back", why=why, verdict=verdict)
    if verdict.judgement is Judgement.ENOUGH and rollout.status is RolloutStatus.RUNNING:
        return _advanced(_noted(rollout, now, "passed", verdict=verdict), now)
    return rollout


def shadowed(rollout: Rollout, seen: ShadowSeen, now: float) -> Rollout:
    """More copies were compared; stops at a breach, goes on when there are enough."""
    if rollout.is_ended or rollout.stage.kind is not StageKind.SHADOW:
        return rollout
    rollout = structs.replace(rollout, shadow=rollout.shadow.plus(seen))
    judgement, why = judge_copies(rollout.shadow, rollout.stage.copies)
    if judgement is Judgement.BREACH:
        return _ended(rollout, RolloutStatus.ROLLED_BACK, now, "rolled_back", why=why)
    if judgement is Judgement.ENOUGH and rollout.status is RolloutStatus.RUNNING:
        return _advanced(_noted(rollout, now, "passed", why=why), now)
    return rollout


def failed(rollout: Rollout, why: str, now: float) -> Rollout:
    """The candidate cannot serve: it never became ready, or went down again and again."""
    return rollout if rollout.is_ended else _ended(rollout, RolloutStatus.ROLLED_BACK, now, "rolled_back", why=why)


def paused(rollout: Rollout, *, who: str, now: float) -> Rollout:
    """The share stays where it is until somebody resumes."""
    _check_running(rollout)
    return structs.replace(_noted(rollout, now, "paused", who=who), status=RolloutStatus.PAUSED)


def resumed(rollout: Rollout, *, who: str, now: float) -> Rollout:
    """As before the pause."""
    if rollout.status is not RolloutStatus.PAUSED:
        raise SettingsInvalid(f"the rollout {rollout.id} is {rollout.status}, not paused")
    return structs.replace(_noted(rollout, now, "resumed", who=who), status=RolloutStatus.RUNNING)


def promoted(rollout: Rollout, *, who: str, now: float) -> Rollout:
    """To the next stage by hand, whatever the evidence says."""
    _check_running(rollout)
    verdict = judge(rollout.candidate_evidence, rollout.baseline_evidence, strictness=rollout.stage.strictness)
    return _advanced(_noted(rollout, now, "promoted", who=who, verdict=verdict), now)


def aborted(rollout: Rollout, *, who: str, now: float) -> Rollout:
    """Back to the baseline by hand."""
    _check_running(rollout)
    return _ended(rollout, RolloutStatus.ABORTED, now, "aborted", who=who)


def _check_running(rollout: Rollout) -> None:
    if rollout.is_ended:
        raise SettingsInvalid(f"the rollout {rollout.id} has ended: {rollout.status}")


def _advanced(rollout: Rollout, now: float) -> Rollout:
    number = rollout.stage_number + 1
    running = structs.replace(rollout, status=RolloutStatus.RUNNING)
    if rollout.plan.stages[number].kind is StageKind.FULL:
        full = structs.replace(running, stage_number=number)
        return _ended(full, RolloutStatus.COMPLETED, now, "completed")
    return _noted(structs.replace(running, stage_number=number), now, "begun")


def _ended(
    rollout: Rollout,
    status: RolloutStatus,
    now: float,
    what: str,
    *,
    why: str = "",
    who: str = "",
    verdict: Verdict | None = None,
) -> Rollout:
    return structs.replace(_noted(rollout, now, what, why=why, who=who, verdict=verdict), status=status)


def _noted(
    rollout: Rollout, now: float, what: str, *, why: str = "", who: str = "", verdict: Verdict | None = None
) -> Rollout:
    step = RolloutStep(at=now, stage=rollout.stage.name, what=what, why=why, who=who, verdict=verdict)
    return structs.replace(rollout, steps=(*rollout.steps, step)[-STEPS_MAX:])
