"""What this worker has seen of both sides of every rollout, as sums that the supervisor collects."""

from collections.abc import Mapping

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import ModelRule
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.gateway.finished import Finished
from heterodyne.rollout.evidence import NOTHING_SEEN, ArmsSeen, Evidence, seen
from heterodyne.rollout.metric import at_load
from heterodyne.routing.health.outcome import FAILURES


class ArmTallies:
    """One per worker."""

    def __init__(self) -> None:
        self.splits: dict[str, RolloutSplit] = {}  # by model; empty nearly always
        self._seen: dict[str, ArmsSeen] = {}  # by rollout

    def take(self, rules: Mapping[str, ModelRule]) -> None:
        """The rollouts of the moment; what was seen of others is forgotten."""
        splits = {model: rule.split for model, rule in rules.items() if rule.split is not None}
        self.splits = {model: split for model, split in splits.items() if is_running(split)}
        running = {split.rollout for split in self.splits.values()}
        self._seen = {rollout: arms for rollout, arms in self._seen.items() if rollout in running}

    def observe(self, finished: Finished, ended: EndedRequest) -> None:
        """One request of a model with a rollout: of whoever answered what it took, of whoever failed it that it did."""
        split = self.splits.get(ended.model)
        if split is None or not ended.pool:
            return
        for one in finished.tries:
            if one.outcome in FAILURES:
                self._add(split, one.replica.pool, seen({"errors": 1.0}))
        if not ended.reason:
            expected_s = _expected_s(finished, is_candidate=split.is_candidate(ended.pool))
            self._add(split, ended.pool, seen(_values(ended, expected_s)))

    def snapshot(self) -> dict[str, ArmsSeen]:
        """Since the worker began, by rollout."""
        return dict(self._seen)

    def _add(self, split: RolloutSplit, pool: str, evidence: Evidence) -> None:
        known = self._seen.get(split.rollout, NOTHING_SEEN)
        if split.is_candidate(pool):
            known = ArmsSeen(known.candidate.plus(evidence), known.baseline)
        else:
            known = ArmsSeen(known.candidate, known.baseline.plus(evidence))
        self._seen[split.rollout] = known


def is_running(split: RolloutSplit) -> bool:
    """Whether anybody compares its sides; of one that has ended, either side has nobody."""
    return split.share > 0.0 and not split.is_completed


def _expected_s(finished: Finished, *, is_candidate: bool) -> tuple[float, float] | None:
    """TTFT and time between tokens at the baseline's speed with the load that there was; None: not known."""
    choice = finished.choice
    if choice is None or choice.is_repeated:
        return None
    if is_candidate:
        return choice.as_baseline_s
    forecast = choice.forecast
    return (forecast.ttft_s, forecast.itl_s) if forecast.state.speed.is_learned else None


def _values(ended: EndedRequest, expected_s: tuple[float, float] | None) -> dict[str, float]:
    """Of an answer that was complete."""
    values = {"errors": 0.0}
    if ended.ttft_ms and not ended.retries:  # what another lost before is not its own
        values["ttft"] = ended.ttft_ms
        sent_ms = ended.ttft_ms - (ended.queue_ms or 0.0)
        if expected_s is not None and sent_ms > 0.0:
            values[at_load("ttft")] = sent_ms / (1000 * expected_s[0])
    if ended.itl_ms:
        values["itl"] = ended.itl_ms
        if expected_s is not None and not ended.continuations:
            values[at_load("itl")] = ended.itl_ms / (1000 * expected_s[1])
    if ended.completion_tokens:
        values["length"] = float(ended.completion_tokens)
    return values
