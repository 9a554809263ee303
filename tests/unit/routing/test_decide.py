"""Where a request goes."""

import pytest

from heterodyne.domain.decision import Reason
from heterodyne.domain.errors import EngineUnavailable, InvalidField, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Purpose, Replica, ReplicaId
from heterodyne.domain.request import Operation, Request
from heterodyne.routing.decide import decide


def replica(name: str, *, model: str = "m", health: Health = Health.READY, purpose: Purpose | None = None) -> Replica:
    return Replica(
        id=ReplicaId(name),
        pool=PoolName("p"),
        model=model,
        engine="openai",
        host="h",
        port=1,
        health=health,
        purpose=purpose,
    )


def request(model: str = "m", operation: Operation = Operation.CHAT) -> Request:
    return Request(id="1", operation=operation, model=model, body=b"")


def fleet(*replicas: Replica) -> FleetSnapshot:
    return FleetSnapshot.of(1, replicas)


def test_the_least_loaded_ready_replica_wins() -> None:
    known = fleet(replica("a"), replica("b"), replica("c", health=Health.DOWN))
    decision = decide(request(), known, {ReplicaId("a"): 3, ReplicaId("b"): 1})
    assert (decision.target.id, decision.reason) == ("b", Reason.LEAST_LOADED)


def test_an_only_replica_is_taken_without_a_choice() -> None:
    assert decide(request(), fleet(replica("a")), {}).reason is Reason.ONLY_REPLICA


def test_a_replica_that_failed_this_request_is_not_asked_again() -> None:
    known = fleet(replica("a"), replica("b"))
    assert decide(request(), known, {}, excluded=frozenset({ReplicaId("a")})).target.id == "b"
    with pytest.raises(EngineUnavailable):
        decide(request(), known, {}, excluded=frozenset({ReplicaId("a"), ReplicaId("b")}))


@pytest.mark.parametrize("health", [Health.STARTING, Health.DOWN])
def test_a_model_without_a_ready_replica_is_worth_another_try_soon(health: Health) -> None:
    with pytest.raises(EngineUnavailable) as caught:
        decide(request(), fleet(replica("a", health=health)), {})
    assert caught.value.retry_after_s == 2


def test_an_unknown_model_is_answered_with_the_nearest_and_the_known() -> None:
    known = fleet(replica("a", model="llama"), replica("b", model="mini"))
    with pytest.raises(UnknownModel, match=r"Did you mean 'llama'\? Known models: llama, mini\."):
        decide(request("lama"), known, {})


def test_of_very_many_models_some_are_named() -> None:
    known = fleet(*(replica(f"r{i}", model=f"model-{i}") for i in range(50)))
    with pytest.raises(UnknownModel, match=r"model-19, …\.$"):
        decide(request("x"), known, {})


def test_a_model_is_asked_only_for_what_it_is_for() -> None:
    known = fleet(replica("a", purpose=Purpose.EMBED), replica("b", model="n", purpose=Purpose.GENERATE))
    with pytest.raises(InvalidField, match="/v1/embeddings"):
        decide(request("m"), known, {})
    with pytest.raises(InvalidField, match="generates text"):
        decide(request("n", Operation.EMBEDDING), known, {})
    assert decide(request("m", Operation.TOKENIZE), known, {}).target.id == "a"
