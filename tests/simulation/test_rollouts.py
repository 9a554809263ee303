"""Good candidates reach everybody, bad ones a bounded share, whatever the seed.

A thousand: `python -m tests.support.simulated_rollouts 1000`.
"""

import pytest

from heterodyne.rollout.machine import RolloutStatus
from tests.support.simulated_rollouts import BAD, Version, play

GOOD, EACH = 60, 10
EXPOSED_MAX = 0.02


def test_good_candidates_reach_everybody() -> None:
    ended = [play(seed).rollout.status for seed in range(GOOD)]
    assert ended.count(RolloutStatus.COMPLETED) == GOOD, "one in a hundred may fail, and of these seeds none does"


def test_looking_after_every_few_requests_raises_no_alarm() -> None:
    for seed in range(2):
        assert play(seed, batch=100).rollout.status is RolloutStatus.COMPLETED


@pytest.mark.parametrize("name", BAD)
def test_bad_ones_reach_few(name: str) -> None:
    for seed in range(EACH):
        played = play(seed, BAD[name])
        assert played.rollout.status is RolloutStatus.ROLLED_BACK, f"seed {seed}"
        assert played.share < EXPOSED_MAX, f"seed {seed}"


def test_a_better_one_is_not_held_against_it() -> None:
    better = Version(ttft_s=0.2, errors=0.0, quality=0.85)
    assert play(1, better).rollout.status is RolloutStatus.COMPLETED
