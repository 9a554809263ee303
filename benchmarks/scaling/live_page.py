"""The page of the live day."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median

from msgspec import Struct

from benchmarks.machine import describe
from benchmarks.scaling.streams import Stream

PAGE = Path("docs/autoscaling-live.md")
UP = {"add": 1, "keep": 1, "drain": -1}


class Look(Struct, frozen=True, kw_only=True):
    """One pool at a moment."""

    at_s: float
    ready: int
    paid: int
    cold_start_s: float


class Killed(Struct, frozen=True, kw_only=True):
    """A child that was killed."""

    replaced_after_s: float


class LivePool(Struct, frozen=True, kw_only=True):
    """One pool's day."""

    name: str
    streams: tuple[Stream, ...]
    looks: tuple[Look, ...]
    steps: tuple[str, ...]
    drained: int
    drained_idle: int  # whose last answer was complete
    killed: Killed

    @property
    def paid_s(self) -> float:
        """Replica-seconds, from being asked for until gone."""
        return sum(one.paid * (after.at_s - one.at_s) for one, after in pairwise(self.looks))

    @property
    def most(self) -> int:
        return max(one.ready for one in self.looks)

    @property
    def turns(self) -> int:
        """Changes of direction."""
        ways = [UP[one] for one in self.steps]
        return sum(a != b for a, b in pairwise(ways))


class LiveReport(Struct, frozen=True, kw_only=True):
    """The whole day."""

    minutes: float
    took_s: float
    speed: float
    pools: tuple[LivePool, ...]


def live_page(report: LiveReport) -> str:
    """Markdown, to be wrapped."""
    date = datetime.now(UTC).strftime("%d %B %Y")
    rows = "\n".join(_row(one, report) for one in report.pools)
    problems = [stream.problem for pool in report.pools for stream in pool.streams if stream.problem]
    said = "".join(f"\n- `{one}`" for one in dict.fromkeys(problems)) or "nothing."
    return f"""# A day in ten minutes, live

`python -m benchmarks.scaling.live` ({date}, {describe()}, other work beside it): `heterodyne serve` with one worker and
two pools that grow and shrink on this machine, under a day's curve of streams in {report.minutes:g} minutes: quiet, a
rise, a second peak after noon, and quiet. The autoscaler's windows pass {report.speed:g} times as fast
as the clock, so that the day has room for them. A child of each pool is killed on the way.

| Pool | Streams | Broken | TTFT p50, p95 | Replicas | Replica-s | Always the most | Steps | Turns | Drained | A start |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{rows}

*Drained* are replicas that were given up, and how many of them had ended all they had. *A start* is the median from
asking for a replica until every worker sees it ready. The killed children were replaced after
{" and ".join(f"{one.killed.replaced_after_s:.1f} s ({one.name})" for one in report.pools)}; streams that ran on them
went on elsewhere.

Streams that broke: {said}

What it is not: the emulators answer at a fifth of an H100's pace without one, and the machine is shared; a child is
killed while another of its pool is ready, as a stream has nowhere to go on else. It shows whether anything is lost
when replicas come, go and die, not how well a fleet is sized ([that](autoscaling-accuracy.md) is measured in virtual
time).
"""


def _row(pool: LivePool, report: LiveReport) -> str:
    times = sorted(one.ttft_s for one in pool.streams if one.ttft_s is not None)
    broken = sum(bool(one.problem) for one in pool.streams)
    span_s = pool.looks[-1].at_s - pool.looks[0].at_s
    always_s = pool.most * span_s
    late = times[int(0.95 * len(times))] if times else 0.0
    counts = f"{min(one.ready for one in pool.looks)} to {pool.most}"
    return (
        f"| {pool.name} | {len(pool.streams)} | {broken} | {median(times):.2f}, {late:.2f} s | {counts} "
        f"| {pool.paid_s:.0f} | {always_s:.0f} ({1 - pool.paid_s / always_s:.0%} saved) | {len(pool.steps)} "
        f"| {pool.turns} | {pool.drained} ({pool.drained_idle}) | {pool.looks[-1].cold_start_s:.1f} s |"
    )
