"""Canaries in virtual time: requests of both versions with random times, errors and answers, judged batch by batch.

python -m tests.support.simulated_rollouts 1000
"""

import math
import sys
from typing import NamedTuple

import numpy as np

from heterodyne.rollout.evidence import Evidence, MetricSums
from heterodyne.rollout.machine import Rollout, begin, observed, share_of
from heterodyne.rollout.plan import RolloutPlan, StageKind

CANARY = RolloutPlan(
    stages=tuple(stage for stage in RolloutPlan().stages if stage.kind in (StageKind.CANARY, StageKind.FULL))
)
REQUESTS_MAX = 5_000_000


class Version(NamedTuple):
    """How one version answers."""

    ttft_s: float = 0.3
    errors: float = 0.0005
    quality: float = 0.8
    leak: float = 0.0  # by how much its time between tokens grows with every request it has had


class Played(NamedTuple):
    """One rollout."""

    rollout: Rollout
    requests: int
    exposed: int  # of these, those that the candidate answered

    @property
    def share(self) -> float:
        return self.exposed / self.requests


GOOD = Version()
BAD = {
    "+30 % TTFT": Version(ttft_s=0.3 * 1.3),
    "2 % errors": Version(errors=0.02),
    "degraded answers": Version(quality=0.74),
    "leaks memory": Version(leak=0.001),
}


def play(seed: int, candidate: Version = GOOD, *, batch: int = 2000, plan: RolloutPlan = CANARY) -> Played:
    """Until it ends."""
    rng = np.random.default_rng(seed)
    rollout = begin("r", "m", baseline=("a",), candidate=("b",), plan=plan, now=0.0)
    requests = exposed = 0
    while not rollout.is_ended and requests < REQUESTS_MAX:
        count = int(rng.binomial(batch, share_of(rollout)))
        seen = _answered(rng, count, candidate, exposed)
        requests, exposed = requests + batch, exposed + count
        rollout = observed(rollout, seen, _answered(rng, batch - count, GOOD, 0), float(requests))
    return Played(rollout, requests, exposed)


def _answered(rng: np.random.Generator, count: int, version: Version, before: int) -> Evidence:
    """What is seen of so many requests. Prompts differ in length, so times differ far more than versions do."""
    failed = int(rng.binomial(count, version.errors))
    good = count - failed
    slower = math.log1p(version.leak * before)
    values = {
        "ttft": rng.normal(math.log(version.ttft_s), 0.7, good),
        "itl": rng.normal(math.log(0.02) + slower, 0.3, good),
        "length": rng.normal(math.log(200), 1.0, good),
        "quality": np.clip(rng.normal(version.quality, 0.15, good), 0, 1),
        "refusals": (rng.random(good) < 0.01).astype(float),
    }
    sums = {name: MetricSums(good, float(ones.sum()), float((ones * ones).sum())) for name, ones in values.items()}
    return Evidence(requests=count, sums={"errors": MetricSums(count, float(failed), float(failed)), **sums})


if __name__ == "__main__":
    many = int(sys.argv[1])
    for name, version in {"good": GOOD, **BAD}.items():
        played = [play(seed, version) for seed in range(many if name == "good" else many // 10)]
        back = sum(one.rollout.status == "rolled_back" for one in played)
        exposed = sorted(one.exposed for one in played)[len(played) // 2]
        most = 100 * max(one.share for one in played)
        print(f"{name}: {back} of {len(played)} rolled back; at most {most:.2f} % exposed, {exposed} in the median")
