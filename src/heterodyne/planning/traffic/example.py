"""A log of chats that never were, to try plans with: lengths with long tails, arrivals by chance, always the same."""

from math import cos, exp, log, pi, sqrt
from typing import Final

REQUESTS: Final = 2000
MEAN_GAP_S: Final = 0.2
LENGTHS: Final = ((600, 0.9, 8000), (180, 0.7, 1200))  # of prompts and answers: median, spread of its logarithm, most


def example_csv() -> str:
    """Arrival, prompt and output, as `plan traffic` reads them."""
    draw = _Draws()
    lines, at_s = ["timestamp,prompt_tokens,output_tokens"], 0.0
    for _ in range(REQUESTS):
        at_s -= log(draw.uniform()) * MEAN_GAP_S
        prompt, output = (_length(draw, *shape) for shape in LENGTHS)
        lines.append(f"{at_s:.3f},{prompt},{output}")
    return "\n".join([*lines, ""])


def _length(draw: "_Draws", median: int, spread: float, most: int) -> int:
    return min(most, max(4, round(median * exp(spread * draw.normal()))))


class _Draws:
    """Numbers that look random and are the same everywhere (a linear congruential generator)."""

    def __init__(self) -> None:
        self._state = 20_26

    def uniform(self) -> float:
        """Above 0, up to 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state // 2**11 + 1) / 2**53

    def normal(self) -> float:
        """Around 0, with a standard deviation of 1."""
        return sqrt(-2.0 * log(self.uniform())) * cos(2.0 * pi * self.uniform())
