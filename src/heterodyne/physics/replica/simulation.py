"""A replica in virtual time: jobs and when they come in, when each got its first and its last token out."""

from collections.abc import Iterable, Sequence
from math import inf

from msgspec import Struct

from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.machine import ReplicaMachine


class JobTiming(Struct, frozen=True, kw_only=True, gc=False):
    """One job's times."""

    job: Job
    arrived_at_s: float
    first_at_s: float
    finished_at_s: float

    @property
    def ttft_s(self) -> float:
        """From arrival to the first token."""
        return self.first_at_s - self.arrived_at_s


class TokenGaps(Struct, frozen=True, kw_only=True, gc=False):
    """So many sequences waited so long for a token after the one before."""

    at_s: float
    gap_s: float
    count: int


class SimulatedTimings(Struct, frozen=True, kw_only=True):
    """What the jobs got."""

    timings: tuple[JobTiming, ...]  # in the order they finished
    gaps: tuple[TokenGaps, ...]  # in the order they passed


def simulate_replica(machine: ReplicaMachine, arrivals: Iterable[tuple[float, Job]]) -> SimulatedTimings:
    """Run a machine dry; arrivals are in the order of their times, and each job fits."""
    coming = iter(arrivals)
    upcoming = next(coming, None)
    arrived: dict[int, tuple[float, Job]] = {}
    first: dict[int, float] = {}
    timings: list[JobTiming] = []
    gaps: list[TokenGaps] = []
    now_s = decoded_at_s = 0.0
    while upcoming is not None or arrived:
        while upcoming is not None and upcoming[0] <= now_s:
            machine.submit(upcoming[1], upcoming[0])
            arrived[upcoming[1].id] = upcoming
            upcoming = next(coming, None)
        next_at_s = inf if upcoming is None else upcoming[0]
        step = machine.begin(now_s, leap_until_s=next_at_s)
        if step is None:
            now_s = decoded_at_s = min(next_at_s, machine.ready_at_s)
            continue
        now_s = step.ends_at_s
        ended = machine.finish()
        if step.decoding:
            # Steps of prompts alone lie between two tokens of the sequences that decode.
            gap_s = (now_s - decoded_at_s) / step.passes
            gaps.append(TokenGaps(at_s=now_s, gap_s=gap_s, count=step.decoding * step.passes))
            decoded_at_s = now_s
        elif machine.running == len(ended.prompted):
            decoded_at_s = now_s
        for job_id in ended.prompted:
            first.setdefault(job_id, now_s)
        for job_id in ended.finished:
            at_s, job = arrived.pop(job_id)
            timings.append(JobTiming(job=job, arrived_at_s=at_s, first_at_s=first.pop(job_id), finished_at_s=now_s))
    return SimulatedTimings(timings=tuple(timings), gaps=tuple(gaps))


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def gap_quantile(gaps: Sequence[TokenGaps], share: float) -> float:
    """The same over the time between two tokens."""
    ordered = sorted(gaps, key=lambda one: one.gap_s)
    left = share * sum(one.count for one in ordered)
    for one in ordered:
        left -= one.count
        if left < 0:
            return one.gap_s
    return ordered[-1].gap_s
