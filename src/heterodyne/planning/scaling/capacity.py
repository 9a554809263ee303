"""How much a number of equal replicas carries while the promised share of requests keeps its SLO.

Load is counted in *usual requests* a second: requests of the lengths that the capacity was found with. One that is
longer counts as more of them, by what its tokens take of a replica. Many replicas carry more than so many times what
one does, because the router evens out who is busy: so capacity is a curve and not a number.
"""

from bisect import bisect_left
from itertools import pairwise
from math import copysign, exp, log

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec

REPLICAS_MAX = 4096
# By which power of their mean lengths requests take of what replicas carry within a promise, as
# benchmarks/scaling/lengths.py simulates it.
SHORTER_PROMPTS, LONGER_PROMPTS, ANSWERS = 0.75, 1.25, 0.7
DEARER_MIN, DEARER_MAX = 0.6, 3.0  # as far as that was simulated
CHANCE = 0.1  # so far off, as a logarithm, a mean may be of lengths that are as usual


class CapacityCurve(Struct, frozen=True, kw_only=True):
    """Points of it, rising, and what a token weighs."""

    points: tuple[tuple[int, float], ...]  # so many replicas carry so many usual requests a second
    prompt_token: float  # usual requests that a token of a prompt is
    output_token: float
    output_tokens: float  # of a usual answer, until others have ended
    prompt_tokens: float | None = None  # of a usual prompt; None: not known, and lengths count by their work alone

    def __post_init__(self) -> None:
        if not self.points or any(count < 1 or not rate > 0 for count, rate in self.points):
            raise InvalidSpec("a capacity curve needs points, each with a replica and a rate above 0 at least")
        if any(after[0] <= before[0] or after[1] <= before[1] for before, after in pairwise(self.points)):
            raise InvalidSpec("the points of a capacity curve must rise")

    @classmethod
    def of(
        cls,
        points: tuple[tuple[int, float], ...],
        *,
        prompt_tokens: float,
        output_tokens: float,
        prompt_token_s: float,
        output_token_s: float,
    ) -> "CapacityCurve":
        """From the mean lengths that the points were found with, and the seconds of a replica that a token takes."""
        request_s = prompt_tokens * prompt_token_s + output_tokens * output_token_s
        return cls(
            points=points,
            prompt_token=prompt_token_s / request_s,
            output_token=output_token_s / request_s,
            output_tokens=output_tokens,
            prompt_tokens=prompt_tokens or None,
        )

    def dearer(self, prompts: float, answers: float) -> float:
        """How many times its work a request takes of the capacity within the promise, by its mean lengths over the
        usual ones.

        Work adds up; waiting does not: a long prompt holds up the first tokens and the answers of all others, so that
        prompts that are longer cost more than their work, and answers that are shorter save less of it.
        """
        if self.prompt_tokens is None or prompts <= 0 or answers <= 0:
            return 1.0
        power = LONGER_PROMPTS if prompts > 1 else SHORTER_PROMPTS
        work = prompts * self.prompt_tokens * self.prompt_token + answers * self.output_tokens * self.output_token
        within_promise: float = prompts**power * answers**ANSWERS
        return min(DEARER_MAX, max(DEARER_MIN, within_promise / work))

    @staticmethod
    def smoothed(points: tuple[tuple[int, float], ...]) -> tuple[tuple[int, float], ...]:
        """Points that were measured, on the curve through them that staffing by the square root gives: each replica
        carries a rate of its own, less what the square root of their number has to keep free for busy moments."""
        if len(points) < 3:
            return points
        # Least squares of rate / replicas = most - kept / sqrt(replicas).
        xs = [count**-0.5 for count, _ in points]
        ys = [rate / count for count, rate in points]
        x, y = sum(xs) / len(xs), sum(ys) / len(ys)
        spread = sum((one - x) ** 2 for one in xs)
        slope = min(0.0, sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / spread)
        return tuple((count, count * (y + slope * (count**-0.5 - x))) for count, _ in points)

    def requests_per_s(self, replicas: int) -> float:
        """Straight between the points; beyond the last one each replica carries what those carry on average."""
        if replicas <= 0:
            return 0.0
        place = bisect_left(self.points, replicas, key=lambda point: point[0])
        if place == len(self.points):
            count, rate = self.points[-1]
            return rate * replicas / count
        count, rate = self.points[place]
        before, less = self.points[place - 1] if place else (0, 0.0)
        return less + (rate - less) * (replicas - before) / (count - before)

    def replicas_for(self, requests_per_s: float) -> int:
        """The fewest that carry it."""
        if requests_per_s <= 0:
            return 0
        count, rate = self.points[-1]
        low, high = 0, max(count, min(REPLICAS_MAX, int(requests_per_s / rate * count) + 1))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.requests_per_s(middle) >= requests_per_s else (middle, high)
        return high


def beyond_chance(ratio: float) -> float:
    """Of a mean of lengths over the usual one: means of a heavy tail wander, so that one that is near is the usual one,
    and only one that is twice as far off is believed as it is."""
    if ratio <= 0:
        return ratio
    off = abs(log(ratio))
    believed = 0.0 if off < CHANCE else min(off, 2.0 * (off - CHANCE))
    return exp(copysign(believed, log(ratio)))
