"""What a worker counts of both sides of a rollout."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.gateway.arm_tallies import ArmTallies
from heterodyne.gateway.finished_try import Try
from heterodyne.routing.health.outcome import Outcome

SPLIT = RolloutSplit(rollout="r1", candidate_pools=("new",), baseline_pools=("old",), share=0.5)


def tried(pool: str, outcome: Outcome) -> Try:
    replica = Replica(id=ReplicaId(f"{pool}-0"), pool=PoolName(pool), model="m", engine="vllm", host="h", port=1)
    return Try(replica, 0.0, 0.0, 1.0, status=0, outcome=outcome)


def ended(pool: str, *tries: Try, choice: Any = None, **fields: Any) -> tuple[Any, EndedRequest]:
    """The facts of one end, as far as they are read here."""
    request = EndedRequest()
    usual = {"model": "m", "pool": pool, "reason": "", "retries": 0, "ttft_ms": 200.0, "itl_ms": 20.0}
    for name, value in (usual | {"completion_tokens": 50, "queue_ms": None, "continuations": 0} | fields).items():
        setattr(request, name, value)
    return SimpleNamespace(tries=tries or (tried(pool, Outcome.SUCCESS),), choice=choice), request


def chosen(*, as_baseline_s: tuple[float, float] | None = None, is_learned: bool = True) -> Any:
    """A decision that forecast a first token after 0.1 s and 10 ms between tokens."""
    state = SimpleNamespace(speed=SimpleNamespace(is_learned=is_learned))
    forecast = SimpleNamespace(ttft_s=0.1, itl_s=0.01, state=state)
    return SimpleNamespace(forecast=forecast, as_baseline_s=as_baseline_s, is_repeated=False)


@pytest.fixture
def tallies() -> ArmTallies:
    found = ArmTallies()
    found.take({"m": ModelRule(split=SPLIT), "other": ModelRule()})
    return found


def test_an_answer_counts_for_whoever_gave_it(tallies: ArmTallies) -> None:
    for pool in ("new", "old", "old"):
        tallies.observe(*ended(pool))
    seen = tallies.snapshot()["r1"]
    assert (seen.candidate.requests, seen.baseline.requests) == (1, 2)
    assert {name: sums.count for name, sums in seen.candidate.sums.items()} == {
        "errors": 1,
        "ttft": 1,
        "itl": 1,
        "length": 1,
    }
    assert seen.candidate.sums["ttft"].total == pytest.approx(math.log(200.0))
    assert seen.baseline.sums["errors"].total == 0.0


def test_a_failure_that_another_made_good_counts_against_whoever_failed(tallies: ArmTallies) -> None:
    tries = (tried("new", Outcome.ENGINE_FAILED), tried("old", Outcome.SUCCESS))
    tallies.observe(*ended("old", *tries, retries=1))
    seen = tallies.snapshot()["r1"]
    assert (seen.candidate.sums["errors"].count, seen.candidate.sums["errors"].total) == (1, 1.0)
    assert seen.baseline.sums["errors"].total == 0.0
    assert "ttft" not in seen.baseline.sums, "what another lost before is not its own"


@pytest.mark.parametrize("outcome", [Outcome.CALLER_ERROR, Outcome.CANCELLED, Outcome.REFUSED_BUSY])
def test_what_is_nobody_s_fault_counts_against_nobody(tallies: ArmTallies, outcome: Outcome) -> None:
    tallies.observe(*ended("new", tried("new", outcome), reason="engine_refused"))
    assert tallies.snapshot() == {}


def test_models_without_a_rollout_and_rollouts_that_are_over_are_not_counted(tallies: ArmTallies) -> None:
    tallies.observe(*ended("new", model="other"))
    assert tallies.snapshot() == {}
    tallies.observe(*ended("new"))
    tallies.take({})
    assert tallies.splits == {}
    assert tallies.snapshot() == {}


def test_times_are_held_against_what_the_baseline_would_have_taken_with_as_much_to_do(tallies: ArmTallies) -> None:
    tallies.observe(*ended("new", choice=chosen(as_baseline_s=(0.05, 0.01)), queue_ms=100.0))
    tallies.observe(*ended("old", choice=chosen()))
    seen = tallies.snapshot()["r1"]
    assert seen.candidate.sums["ttft_at_load"].total == pytest.approx(math.log(2.0)), (
        "what it queued for is not its own"
    )
    assert seen.candidate.sums["itl_at_load"].total == pytest.approx(math.log(2.0))
    assert seen.baseline.sums["ttft_at_load"].total == pytest.approx(math.log(2.0))


def test_without_a_forecast_to_rely_on_times_are_as_they_are(tallies: ArmTallies) -> None:
    tallies.observe(*ended("new", choice=chosen()))
    tallies.observe(*ended("old", choice=chosen(is_learned=False)))
    for evidence in (tallies.snapshot()["r1"].candidate, tallies.snapshot()["r1"].baseline):
        assert {"ttft", "itl"} <= evidence.sums.keys()
        assert not any(name.endswith("at_load") for name in evidence.sums)


def test_a_rollout_that_has_ended_is_not_counted(tallies: ArmTallies) -> None:
    for changes in ({"share": 0.0}, {"share": 1.0, "is_completed": True}):
        tallies.take({"m": ModelRule(split=structs.replace(SPLIT, **changes))})
        assert tallies.splits == {}
