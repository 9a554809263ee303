"""Rollouts that never were, for pictures: one that was completed, and one that was taken back for being slower.

Their pools are in no fleet, so that no request goes elsewhere for them.
"""

import math

import msgspec

from heterodyne.ports.rollout_store import RolloutStore, StoredRollout
from heterodyne.rollout.evidence import Evidence, MetricSums
from heterodyne.rollout.machine import Rollout, begin, checked, observed, paused, promoted, resumed

MODEL = "support-chat"
DAY_S = 86_400.0
SPREAD = 0.4  # of logarithms of times and lengths


async def write_past_rollouts(store: RolloutStore, now: float) -> None:
    """Both are of one model."""
    for rollout in (_completed(now - 9 * DAY_S), _taken_back(now - DAY_S)):
        assert rollout.is_ended
        document = msgspec.json.encode(rollout).decode()
        await store.begin(
            StoredRollout(
                id=rollout.id,
                model=MODEL,
                revision=0,
                began_at=rollout.began_at,
                is_ended=True,
                document=document,
            )
        )


def _completed(at: float) -> Rollout:
    rollout = _in_canary("support-chat-1", at, "h100-v1", "h100-v2")
    while not rollout.is_ended:
        at += 600
        rollout = promoted(rollout, who="key 9f86d081", now=at)
    return rollout


def _taken_back(at: float) -> Rollout:
    rollout = _in_canary("support-chat-2", at, "h100-v2", "h100-v3")
    rollout = observed(rollout, _seen(3_000), _seen(3_000, requests=60_000), at + 900)
    assert rollout.stage.name == "canary 5 %"
    rollout = paused(rollout, who="key 9f86d081", now=at + 1_000)
    rollout = resumed(rollout, who="key 9f86d081", now=at + 1_300)
    return observed(rollout, _seen(9_000, slower=1.16), _seen(9_000, requests=160_000), at + 2_400)


def _in_canary(id: str, at: float, baseline: str, candidate: str) -> Rollout:
    rollout = begin(id, MODEL, baseline=(baseline,), candidate=(candidate,), now=at)
    rollout = checked(rollout, passed=True, why=f"{candidate}-0 answered", now=at + 2)
    return checked(rollout, passed=True, why="", now=at + 3)


def _seen(times: int, *, requests: int | None = None, slower: float = 1.0) -> Evidence:
    every = times if requests is None else requests
    return Evidence(
        requests=every,
        sums={
            "errors": MetricSums(every, 0.0, 0.0),
            "ttft": _logarithms(times, slower),
            "itl": _logarithms(times, 1.0),
            "length": _logarithms(every, 1.0),
        },
    )


def _logarithms(times: int, ratio: float) -> MetricSums:
    mean = math.log(ratio)
    return MetricSums(times, times * mean, times * (mean * mean + SPREAD * SPREAD))
