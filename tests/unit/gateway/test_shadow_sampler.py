"""Which requests are copied: answered ones, not too large, within a budget; and as what."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import ModelRule
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.gateway.shadow_sampler import BODY_BYTES_MAX, WAITING_MAX, ShadowSampler

SPLIT = RolloutSplit(rollout="r", candidate_pools=("new",), baseline_pools=("old",), share=0.0, copies_per_s=2.0)
BODY = {
    "model": "alias",
    "messages": [{"role": "user", "content": "Hello"}],
    "stream": True,
    "stream_options": {"include_usage": True},
    "n": 4,
    "temperature": 1.3,
    "max_completion_tokens": 1000,
}


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def ended(
    reason: str = "",
    model: str = "m",
    operation: Operation = Operation.CHAT,
    regions: frozenset[str] | None = None,
    **fields: Any,
) -> Any:
    """A request that is over, as far as it is read here."""
    body = json.dumps(BODY | fields).encode()
    request = EndedRequest()
    request.model, request.reason = model, reason
    copied = Request(id="q1", operation=operation, model="alias", body=body)
    return SimpleNamespace(request=copied, routing_request=SimpleNamespace(regions=regions)), request


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sampler(clock: Clock) -> ShadowSampler:
    found = ShadowSampler(clock)
    found.take({"m": ModelRule(split=SPLIT), "other": ModelRule()})
    return found


async def test_a_copy_is_answered_once_whole_and_always_alike(sampler: ShadowSampler) -> None:
    sampler.offer(*ended())
    sample = await sampler.next()
    assert (sample.rollout, sample.candidate_pools, sample.baseline_pools) == ("r", ("new",), ("old",))
    assert json.loads(sample.request.body) == {
        "model": "m",
        "messages": BODY["messages"],
        "temperature": 0,
        "max_tokens": 256,
    }
    assert not sample.request.stream


async def test_a_budget_holds_and_nothing_piles_up(sampler: ShadowSampler, clock: Clock) -> None:
    for _ in range(10):
        sampler.offer(*ended())
    assert len(sampler._waiting) == 1
    for _ in range(20):
        clock.now_s += 0.5
        sampler.offer(*ended())
    assert len(sampler._waiting) == WAITING_MAX


@pytest.mark.parametrize(
    "case",
    [
        ended(reason="engine_failed"),
        ended(model="other"),
        ended(operation=Operation.EMBEDDING),
        ended(padding="x" * BODY_BYTES_MAX),
        ended(regions=frozenset({"eu"})),
    ],
)
def test_what_is_not_copied(sampler: ShadowSampler, case: Any) -> None:
    sampler.offer(*case)
    assert not sampler._waiting


def test_a_rollout_past_its_copies_asks_for_none(sampler: ShadowSampler) -> None:
    sampler.take({"m": ModelRule(split=RolloutSplit(rollout="r", candidate_pools=(), baseline_pools=(), share=0.5))})
    assert sampler.splits == {}
