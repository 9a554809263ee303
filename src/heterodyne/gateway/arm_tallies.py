"""What this worker has seen of both sides of every rollout, as sums that the supervisor collects."""

from collections.abc import Mapping
from typing import Final

from msgspec import structs

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import ModelRule
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.gateway.finished import Finished
from heterodyne.rollout.answer_signs import sign_values
from heterodyne.rollout.arms_seen import NOTHING_SEEN, ArmsSeen
from heterodyne.rollout.evidence import Evidence, seen
from heterodyne.rollout.metric import METRICS
from heterodyne.rollout.said import tools_of, try_read_said
from heterodyne.rollout.shadow import ShadowSeen
from heterodyne.routing.arms import Arm, Side
from heterodyne.routing.health.outcome import FAILURES
from heterodyne.wire.chunks import unframe

REFUSALS: Final = METRICS["refusals"]
# Times are compared as ratios: events that come in one read would make an answer a thousand times as fast as another.
TIME_MIN_MS: Final = 1.0
READ_FIRST: Final = 200  # answers of the baseline that are read
READ_TIMES: Final = 4  # as many as of the candidate's after that: more would hardly tell more


class ArmTallies:
    """One per worker."""

    def __init__(self) -> None:
        self.splits: dict[str, RolloutSplit] = {}  # by model; empty nearly always
        self._seen: dict[str, ArmsSeen] = {}  # by rollout

    def take(self, rules: Mapping[str, ModelRule]) -> None:
        """The rollouts of the moment; what was seen of others is forgotten."""
        splits = {model: rule.split for model, rule in rules.items() if rule.split is not None}
        self.splits = {model: split for model, split in splits.items() if split.has_users}
        running = {split.rollout for split in splits.values() if split.has_users or split.has_copies}
        self._seen = {rollout: arms for rollout, arms in self._seen.items() if rollout in running}

    def observe(self, finished: Finished, ended: EndedRequest) -> None:
        """One request of a model with a rollout: of whoever answered what it took, of whoever failed it that it did."""
        split = self.splits.get(ended.model)
        if split is None or not ended.replica:  # nobody was asked
            return
        for one in finished.tries:
            if one.outcome in FAILURES:
                self._add(split, one.replica.pool, seen({"errors": 1.0}))
        if not ended.reason:
            values = _values(ended, has_times=_has_times(split, finished.routing_request.arm, ended))
            if finished.answer and self._is_read(split, ended.pool):
                values |= _signs(finished)
            self._add(split, ended.pool, seen(values))

    def add_copy(self, rollout: str, seen: ShadowSeen) -> None:
        """A copy was compared."""
        known = self._seen.get(rollout, NOTHING_SEEN)
        self._seen[rollout] = structs.replace(known, shadow=known.shadow.plus(seen))

    def snapshot(self) -> dict[str, ArmsSeen]:
        """Since the worker began, by rollout."""
        return dict(self._seen)

    def _is_read(self, split: RolloutSplit, pool: str) -> bool:
        """Whether its words are looked at: all of the candidate's, and of the baseline's as many as are worth it."""
        if split.is_candidate(pool):
            return True
        arms = self._seen.get(split.rollout, NOTHING_SEEN)
        return arms.baseline.of(REFUSALS).count < READ_FIRST + READ_TIMES * arms.candidate.of(REFUSALS).count

    def _add(self, split: RolloutSplit, pool: str, evidence: Evidence) -> None:
        known = self._seen.get(split.rollout, NOTHING_SEEN)
        if split.is_candidate(pool):
            known = structs.replace(known, candidate=known.candidate.plus(evidence))
        else:
            known = structs.replace(known, baseline=known.baseline.plus(evidence))
        self._seen[split.rollout] = known


def _has_times(split: RolloutSplit, arm: Arm | None, ended: EndedRequest) -> bool:
    """Whether it ran at the load that times are compared at: where there is a control group, in that or beside it."""
    if not split.control_replicas:
        return True
    if arm is None or arm.side is Side.BASELINE:
        return False
    return ended.replica in (split.candidate_replicas if arm.is_candidate else split.control_replicas)


def _signs(finished: Finished) -> dict[str, float]:
    """What its words say of its version."""
    sent = b"".join(finished.answer)
    request = finished.request
    try:
        payload = unframe(sent) if finished.is_answer_chunked else sent
        said = try_read_said(payload, is_stream=request.stream)
        return {} if said is None else sign_values(said, tools_of(request.body) if said.calls else {})
    except (ValueError, RecursionError):
        return {}


def _values(ended: EndedRequest, *, has_times: bool) -> dict[str, float]:
    """Of an answer that was complete."""
    values = {"errors": 0.0}
    if has_times and ended.ttft_ms and not ended.retries:  # what another lost before is not its own
        values["ttft"] = max(ended.ttft_ms, TIME_MIN_MS)
    if has_times and ended.itl_ms:
        values["itl"] = max(ended.itl_ms, TIME_MIN_MS)
    if ended.completion_tokens:
        values["length"] = float(ended.completion_tokens)
    return values
