"""What a log of requests says about traffic: how many, how long, how bursty, when, how many at once, what is shared."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import sqrt
from statistics import fmean

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.shared_prefix import SharedPrefix, shared_prefix
from heterodyne.planning.traffic.trace_request import TraceRequest

HOURS = 24
SECONDS_PER_HOUR = 3600.0


class Lengths(Struct, frozen=True, kw_only=True):
    """A distribution of token counts."""

    mean: float
    p50: int
    p90: int
    p99: int
    longest: int


class TrafficProfile(Struct, frozen=True, kw_only=True):
    """Everything the planner asks of a log."""

    requests: int
    span_s: float
    requests_per_s: float
    peak_requests_per_s: float  # in the busiest minute
    burstiness: float  # variation of the gaps between arrivals: 0 a metronome, 1 chance, more in bursts
    prompt: Lengths
    output: Lengths
    cached_share: float | None  # of all prompt tokens, as engines counted them; None: the log does not say
    shared_prefix: SharedPrefix | None  # None: the log has no hashes of blocks
    concurrency_peak: int | None  # None: the log has no durations
    hourly_share: tuple[float, ...]  # of all requests, by hour of the day in UTC


def traffic_profile(arrivals: Iterable[TraceRequest], *, s_per_output_token: float | None = None) -> TrafficProfile:
    """Read a log in any order; `s_per_output_token` stands in for durations that it lacks."""
    if s_per_output_token is not None and not s_per_output_token > 0:
        raise InvalidSpec(f"s_per_output_token: {s_per_output_token:g} is no time; give more than 0.")
    log = sorted(arrivals, key=lambda arrival: arrival.at_s)
    if len(log) < 2:
        raise InvalidSpec(f"A profile needs at least 2 requests; the log has {len(log)}.")
    span_s = log[-1].at_s - log[0].at_s
    if span_s <= 0:
        raise InvalidSpec("All requests of the log came at the same moment; a profile needs a span of time.")
    return TrafficProfile(
        requests=len(log),
        span_s=span_s,
        requests_per_s=len(log) / span_s,
        peak_requests_per_s=busiest_minute(log),
        burstiness=_burstiness([after.at_s - before.at_s for before, after in pairwise(log)]),
        prompt=_lengths([arrival.prompt_tokens for arrival in log]),
        output=_lengths([arrival.output_tokens for arrival in log]),
        cached_share=_cached_share(log),
        shared_prefix=shared_prefix(log),
        concurrency_peak=_concurrency_peak(log, s_per_output_token),
        hourly_share=_hourly_share(log),
    )


def busiest_minute(log: Sequence[TraceRequest]) -> float:
    """Requests per second in the busiest minute of a log in order of time, or in all of a shorter one."""
    most, first = 0, 0
    for last, arrival in enumerate(log):
        while arrival.at_s - log[first].at_s >= 60.0:
            first += 1
        most = max(most, last - first + 1)
    return most / min(60.0, log[-1].at_s - log[0].at_s)


def _burstiness(gaps_s: Sequence[float]) -> float:
    mean = fmean(gaps_s)
    return sqrt(fmean((gap - mean) ** 2 for gap in gaps_s)) / mean


def _lengths(counts: Sequence[int]) -> Lengths:
    ordered = sorted(counts)

    def percentile(share: float) -> int:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return Lengths(
        mean=fmean(ordered), p50=percentile(0.5), p90=percentile(0.9), p99=percentile(0.99), longest=ordered[-1]
    )


def _cached_share(log: Sequence[TraceRequest]) -> float | None:
    prompts = sum(arrival.prompt_tokens for arrival in log)
    counts = [arrival.cached_tokens for arrival in log if arrival.cached_tokens is not None]
    return sum(counts) / prompts if counts and prompts else None


def _concurrency_peak(log: Sequence[TraceRequest], s_per_output_token: float | None) -> int | None:
    if s_per_output_token is None and any(arrival.duration_s is None for arrival in log):
        return None
    steps: list[tuple[float, int]] = []
    for arrival in log:
        duration_s = arrival.duration_s
        if duration_s is None:
            duration_s = arrival.output_tokens * (s_per_output_token or 0.0)
        steps += [(arrival.at_s, 1), (arrival.at_s + duration_s, -1)]
    # One that leaves at the moment another comes makes room first.
    steps.sort()
    inside = most = 0
    for _, change in steps:
        inside += change
        most = max(most, inside)
    return most


def _hourly_share(log: Sequence[TraceRequest]) -> tuple[float, ...]:
    hours = [0] * HOURS
    for arrival in log:
        hours[int(arrival.at_s // SECONDS_PER_HOUR) % HOURS] += 1
    return tuple(count / len(log) for count in hours)
