"""Pure: what copies of users' requests say of a candidate before any user is answered by it.

A copy is asked of both sides, at temperature 0, and neither answer is given to anybody. A candidate that fails what the
baseline answers, or writes much more or less, is not good enough. How alike the words are is kept for people: another
version may well say something else.
"""

import math
from itertools import takewhile
from typing import Final

from msgspec import Struct

from heterodyne.domain.request import Request
from heterodyne.rollout.bounds import mean_bounds, rate_bounds
from heterodyne.rollout.evidence import NO_SUMS, MetricSums
from heterodyne.rollout.judge import ALPHA, Judgement
from heterodyne.rollout.metric import METRICS

LENGTH, ERRORS = METRICS["length"], METRICS["errors"]


class ShadowSample(Struct, frozen=True, kw_only=True):
    """A user's request, to be asked of both sides."""

    rollout: str
    baseline_pools: tuple[str, ...]
    candidate_pools: tuple[str, ...]
    request: Request


class ShadowAnswer(Struct, frozen=True, kw_only=True):
    """What one side says to a copy."""

    text: str
    tokens: int


class ShadowSeen(Struct, frozen=True, kw_only=True):
    """Of copies that the baseline answered."""

    copies: int = 0
    failures: int = 0  # of them, that the candidate did not answer
    lengths: MetricSums = NO_SUMS  # logarithms of how many times as long as the baseline's the candidate's answer was
    likeness: MetricSums = NO_SUMS  # shares of the words that both begin with

    def plus(self, other: "ShadowSeen") -> "ShadowSeen":
        return ShadowSeen(
            copies=self.copies + other.copies,
            failures=self.failures + other.failures,
            lengths=self.lengths.plus(other.lengths),
            likeness=self.likeness.plus(other.likeness),
        )

    def minus(self, before: "ShadowSeen") -> "ShadowSeen":
        return ShadowSeen(
            copies=self.copies - before.copies,
            failures=self.failures - before.failures,
            lengths=self.lengths.minus(before.lengths),
            likeness=self.likeness.minus(before.likeness),
        )


NO_COPIES: Final = ShadowSeen()


def compared(baseline: ShadowAnswer, candidate: ShadowAnswer | None) -> ShadowSeen:
    """One copy; without an answer of the candidate, it failed."""
    if candidate is None:
        return ShadowSeen(copies=1, failures=1)
    length = math.log((candidate.tokens + 1) / (baseline.tokens + 1))
    alike = _likeness(baseline.text.split(), candidate.text.split())
    return ShadowSeen(
        copies=1, lengths=MetricSums(1, length, length * length), likeness=MetricSums(1, alike, alike * alike)
    )


def judge_copies(seen: ShadowSeen, copies_min: int, alpha: float = ALPHA) -> tuple[Judgement, str]:
    """What follows, and why in words. A breach is sure, however often somebody looks."""
    failed = rate_bounds(seen.copies, seen.failures, alpha / 2)
    if failed.low > ERRORS.tolerance:
        return Judgement.BREACH, f"of {seen.copies} copies it failed {seen.failures} that the baseline answered"
    length = mean_bounds(seen.lengths.count, seen.lengths.total, seen.lengths.squares, alpha / 2)
    if max(length.low, -length.high) > LENGTH.breach:
        return Judgement.BREACH, f"its answers to copies are {times_as_long(seen):.2f} times as long as the baseline's"
    if seen.copies < copies_min:
        return Judgement.UNSURE, ""
    return Judgement.ENOUGH, (
        f"{seen.copies} copies: {seen.failures} failed, answers {times_as_long(seen):.2f} times as long, "
        f"{mean_likeness(seen):.0%} of the words alike"
    )


def times_as_long(seen: ShadowSeen) -> float:
    """Its answers, as the baseline's."""
    return math.exp(seen.lengths.total / seen.lengths.count) if seen.lengths.count else 1.0


def mean_likeness(seen: ShadowSeen) -> float:
    """Of the words of an answer, those that both begin with."""
    return seen.likeness.total / seen.likeness.count if seen.likeness.count else 0.0


def _likeness(one: list[str], other: list[str]) -> float:
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) / longest
