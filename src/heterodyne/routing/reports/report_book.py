"""Pure: the reports of all other workers, put together: of each sender the newest, of what is not too old the sum.

Hearing is idempotent and commutative: whatever order reports come in, and however often, the same is known.
"""

from collections.abc import Callable
from typing import Final

from heterodyne.routing.reports.report import LearnedSpeed, ReplicaLoad, WorkerReport

STALE_S: Final = 2.0  # what is older is of a worker that is gone, or of before the store went away
SENDERS_MAX: Final = 256
SAMPLES_COUNTED: Final = 1000  # of one sender's speed: a worker that runs for weeks does not outvote all others


class HeardReport:
    """The newest of one sender."""

    __slots__ = ("made_at_s", "report", "version")

    def __init__(self, version: int, made_at_s: float, report: WorkerReport) -> None:
        self.version = version
        self.made_at_s = made_at_s  # by the clock of whoever asks
        self.report = report


class ReportBook:
    """One per worker; it never hears its own."""

    def __init__(self, *, stale_s: float = STALE_S, senders_max: int = SENDERS_MAX) -> None:
        self._stale_s = stale_s
        self._senders_max = senders_max
        self._heard: dict[str, HeardReport] = {}

    def hear(self, sender: str, version: int, made_at_s: float, report: WorkerReport | None) -> bool:
        """False where the report is wanted and was not brought: None says that this version still holds."""
        known = self._heard.get(sender)
        if known is not None and version <= known.version:
            if version == known.version and made_at_s > known.made_at_s:
                known.made_at_s = made_at_s
            return True
        if report is None:
            return False
        self._heard[sender] = HeardReport(version, made_at_s, report)
        if len(self._heard) > self._senders_max:
            del self._heard[min(self._heard, key=lambda one: (self._heard[one].made_at_s, one))]
        return True

    def forget_stale(self, now_s: float) -> None:
        """Workers that have not been heard of lately are gone."""
        cut_s = now_s - self._stale_s
        self._heard = {sender: heard for sender, heard in self._heard.items() if heard.made_at_s >= cut_s}

    def versions(self) -> dict[str, int]:
        """The newest of each sender: no older one is of use."""
        return {sender: heard.version for sender, heard in self._heard.items()}

    def oldest_s(self, now_s: float) -> float:
        """The age of the oldest report that counts; 0 without any."""
        return max((now_s - heard.made_at_s for heard in self._heard.values()), default=0.0)

    def loads(self, now_s: float) -> dict[str, ReplicaLoad]:
        """What all others have in flight, by engine."""
        sums: dict[str, ReplicaLoad] = {}
        for heard in self._in_order():
            age_s = max(0.0, now_s - heard.made_at_s)
            for engine, load in heard.report.loads.items():
                sums[engine] = _added(sums.get(engine), load, age_s)
        return sums

    def ejections(self, now_s: float) -> dict[str, float]:
        """Until when others avoid an engine, the longest of each, by the clock of whoever asks."""
        untils: dict[str, float] = {}
        for heard in self._in_order():
            for engine, left_s in heard.report.ejections.items():
                until_s = heard.made_at_s + left_s
                if until_s > max(now_s, untils.get(engine, now_s)):
                    untils[engine] = until_s
        return untils

    def speeds(self) -> dict[str, LearnedSpeed]:
        """What others have learned, by pool: means that count samples, and the sum of the prompts that they send."""
        found: dict[str, list[LearnedSpeed]] = {}
        for heard in self._in_order():
            for pool, speed in heard.report.speeds.items():
                found.setdefault(pool, []).append(speed)
        return {pool: _mean(speeds) for pool, speeds in found.items()}

    def _in_order(self) -> list[HeardReport]:
        """By sender, so that the same reports give the same sums to the last bit."""
        return [self._heard[sender] for sender in sorted(self._heard)]


def _added(sum_: ReplicaLoad | None, load: ReplicaLoad, age_s: float) -> ReplicaLoad:
    backlog_s = max(0.0, load.backlog_s - age_s)  # prompts are computed whether we hear of it or not
    if sum_ is None:
        sum_ = ReplicaLoad()
    return ReplicaLoad(
        in_flight=sum_.in_flight + load.in_flight,
        waiting=sum_.waiting + load.waiting,
        patient=sum_.patient + load.patient,
        waiting_tokens=sum_.waiting_tokens + load.waiting_tokens,
        context_tokens=sum_.context_tokens + load.context_tokens,
        backlog_s=sum_.backlog_s + backlog_s,
    )


def _mean(speeds: list[LearnedSpeed]) -> LearnedSpeed:
    weights = [float(min(one.samples, SAMPLES_COUNTED)) for one in speeds]
    whole = sum(weights)

    def mean(part: Callable[[LearnedSpeed], float]) -> float:
        if not whole:
            return part(speeds[0])
        return sum(weight * part(one) for weight, one in zip(weights, speeds, strict=True)) / whole

    return LearnedSpeed(
        samples=sum(one.samples for one in speeds),
        ttft_factors=(
            mean(lambda one: one.ttft_factors[0]),
            mean(lambda one: one.ttft_factors[1]),
            mean(lambda one: one.ttft_factors[2]),
        ),
        itl_factors=(
            mean(lambda one: one.itl_factors[0]),
            mean(lambda one: one.itl_factors[1]),
            mean(lambda one: one.itl_factors[2]),
            mean(lambda one: one.itl_factors[3]),
        ),
        answer_tokens=mean(lambda one: one.answer_tokens),
        prompt_rate=sum(one.prompt_rate for one in speeds),
    )
