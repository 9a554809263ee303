"""What a worker counts of both sides of a rollout."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.gateway.arm_tallies import READ_FIRST, READ_TIMES, TIME_MIN_MS, ArmTallies
from heterodyne.gateway.finished_try import Try
from heterodyne.routing.arms import Arm, Side
from heterodyne.routing.health.outcome import Outcome

SPLIT = RolloutSplit(rollout="r1", candidate_pools=("new",), baseline_pools=("old",), share=0.5)


def tried(pool: str, outcome: Outcome) -> Try:
    replica = Replica(id=ReplicaId(f"{pool}-0"), pool=PoolName(pool), model="m", engine="vllm", host="h", port=1)
    return Try(replica, 0.0, 0.0, 1.0, status=0, outcome=outcome)


def ended(
    pool: str, *tries: Try, arm: Arm | None = None, answer: tuple[bytes, ...] = (), body: bytes = b"", **fields: Any
) -> tuple[Any, EndedRequest]:
    """The facts of one end, as far as they are read here."""
    request = EndedRequest()
    usual = {
        "model": "m",
        "pool": pool,
        "replica": f"{pool}-0",
        "reason": "",
        "retries": 0,
        "ttft_ms": 200.0,
        "itl_ms": 20.0,
    }
    for name, value in (usual | {"completion_tokens": 50} | fields).items():
        setattr(request, name, value)
    finished = SimpleNamespace(
        tries=tries or (tried(pool, Outcome.SUCCESS),),
        routing_request=SimpleNamespace(arm=arm),
        request=SimpleNamespace(body=body, stream=False),
        answer=answer,
        is_answer_chunked=False,
    )
    return finished, request


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


def test_a_rollout_that_has_ended_is_not_counted(tallies: ArmTallies) -> None:
    for changes in ({"share": 0.0}, {"share": 1.0, "is_completed": True}):
        tallies.take({"m": ModelRule(split=structs.replace(SPLIT, **changes))})
        assert tallies.splits == {}


def test_with_a_control_group_times_are_counted_there_and_beside_it_alone() -> None:
    tallies = ArmTallies()
    split = structs.replace(SPLIT, share=0.01, candidate_replicas=("new-0",), control_replicas=("old-0",))
    tallies.take({"m": ModelRule(split=split)})
    candidate, control, others = (Arm(split, side) for side in (Side.CANDIDATE, Side.CONTROL, Side.BASELINE))
    tallies.observe(*ended("new", arm=candidate))
    tallies.observe(*ended("old", arm=control))
    tallies.observe(*ended("old", arm=others, replica="old-1"))
    tallies.observe(*ended("old", arm=others))  # the others were full
    tallies.observe(*ended("old", arm=control, replica="old-1"))  # the control group was
    tallies.observe(*ended("old", arm=candidate, replica="old-1"))  # the candidate was lost
    tallies.observe(*ended("old"))  # of the console's playground
    seen = tallies.snapshot()["r1"]
    counts = {name: sums.count for name, sums in seen.baseline.sums.items()}
    assert (seen.candidate.requests, seen.baseline.requests) == (1, 6)
    assert counts == {"errors": 6, "length": 6, "ttft": 1, "itl": 1}
    assert seen.candidate.sums["ttft"].count == 1


SORRY = (b'{"choices": [{"index": 0, "message": {"content": "I\'m sorry, ', b"but I can't do that.\"}}]}")
CALL = b'{"choices": [{"message": {"tool_calls": [{"function": {"name": "now", "arguments": "no"}}]}}]}'
OFFER = b'{"tools": [{"type": "function", "function": {"name": "now"}}]}'


def test_what_an_answer_says_is_counted_where_it_was_kept(tallies: ArmTallies) -> None:
    tallies.observe(*ended("new", answer=SORRY))
    tallies.observe(*ended("new", answer=(CALL,), body=OFFER))
    tallies.observe(*ended("new", answer=(b"not JSON",)))
    tallies.observe(*ended("new"))
    sums = tallies.snapshot()["r1"].candidate.sums
    assert (sums["refusals"].count, sums["refusals"].total) == (2, 1.0)
    assert (sums["invalid_tool_calls"].count, sums["invalid_tool_calls"].total) == (1, 1.0)


def test_of_the_baseline_as_many_answers_are_read_as_are_worth_it(tallies: ArmTallies) -> None:
    def read() -> int:
        return tallies.snapshot()["r1"].baseline.sums["refusals"].count

    for _ in range(READ_FIRST + 100):
        tallies.observe(*ended("old", answer=SORRY))
    assert read() == READ_FIRST
    for _ in range(3):
        tallies.observe(*ended("new", answer=SORRY))
    for _ in range(100):
        tallies.observe(*ended("old", answer=SORRY))
    assert read() == READ_FIRST + 3 * READ_TIMES


def test_what_takes_no_time_at_all_is_not_a_thousand_times_as_fast(tallies: ArmTallies) -> None:
    tallies.observe(*ended("new", ttft_ms=0.2, itl_ms=0.001))
    sums = tallies.snapshot()["r1"].candidate.sums
    assert sums["ttft"].total == sums["itl"].total == math.log(TIME_MIN_MS)
