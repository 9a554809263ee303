"""Pure: a pool's learned speed as other workers are told of it."""

from math import exp
from typing import Final

from heterodyne.routing.prediction.pool_speed import PROMPT_RATE_S, PoolSpeed
from heterodyne.routing.reports.report import LearnedSpeed

LEARNED_SAMPLES_MIN: Final = 30  # fewer say little


def learned_of(speed: PoolSpeed, now_s: float) -> LearnedSpeed:
    """What one worker has found of it, by its own requests, and what it sends there now."""
    found = speed.snapshot()
    return LearnedSpeed(
        samples=found.samples,
        ttft_factors=found.ttft_factors,
        itl_factors=found.itl_factors,
        answer_tokens=speed.answer_tokens,
        prompt_rate=speed.prompt_rate * exp(-max(0.0, now_s - speed.prompt_at_s) / PROMPT_RATE_S),
    )
