"""Where a request goes."""

from typing import Any

import msgspec
import pytest

from heterodyne.domain.decision import Decision, Reason
from heterodyne.domain.errors import EngineUnavailable, InvalidField, UnknownModel
from heterodyne.domain.fleet import (
    FleetSnapshot,
    Health,
    ModelRule,
    PoolName,
    Price,
    Purpose,
    Replica,
    ReplicaId,
)
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


def decided(
    asked: Request, known: FleetSnapshot, in_flight: dict[ReplicaId, int] | None = None, **more: Any
) -> Decision:
    """A decision among the replicas that the fleet holds for takeable."""
    usable = [one for one in known.by_model.get(asked.model, ()) if one.is_takeable]
    return decide(asked, known, asked.model, usable, in_flight or {}, **more)


def test_the_least_loaded_ready_replica_wins() -> None:
    known = fleet(replica("a"), replica("b"), replica("c", health=Health.DOWN))
    decision = decided(request(), known, {ReplicaId("a"): 3, ReplicaId("b"): 1})
    assert (decision.target.id, decision.reason) == ("b", Reason.LEAST_LOADED)


def test_an_only_replica_is_taken_without_a_choice() -> None:
    assert decided(request(), fleet(replica("a"))).reason is Reason.ONLY_REPLICA


def test_a_replica_that_failed_this_request_is_not_asked_again() -> None:
    known = fleet(replica("a"), replica("b"))
    assert decided(request(), known, excluded=frozenset({ReplicaId("a")})).target.id == "b"
    with pytest.raises(EngineUnavailable):
        decided(request(), known, excluded=frozenset({ReplicaId("a"), ReplicaId("b")}))


@pytest.mark.parametrize("health", [Health.STARTING, Health.DOWN])
def test_a_model_without_a_ready_replica_is_worth_another_try_soon(health: Health) -> None:
    with pytest.raises(EngineUnavailable) as caught:
        decided(request(), fleet(replica("a", health=health)))
    assert caught.value.retry_after_s == 2


def test_an_unknown_model_is_answered_with_the_nearest_and_the_known() -> None:
    known = fleet(replica("a", model="llama"), replica("b", model="mini"))
    with pytest.raises(UnknownModel, match=r"Did you mean 'llama'\? Known models: llama, mini\."):
        decided(request("lama"), known)


def test_of_very_many_models_some_are_named() -> None:
    known = fleet(*(replica(f"r{i}", model=f"model-{i}") for i in range(50)))
    with pytest.raises(UnknownModel, match=r"model-19, …\.$"):
        decided(request("x"), known)


def test_a_model_is_asked_only_for_what_it_is_for() -> None:
    known = fleet(replica("a", purpose=Purpose.EMBED), replica("b", model="n", purpose=Purpose.GENERATE))
    with pytest.raises(InvalidField, match="/v1/embeddings"):
        decided(request("m"), known)
    with pytest.raises(InvalidField, match="generates text"):
        decided(request("n", Operation.EMBEDDING), known)
    assert decided(request("m", Operation.TOKENIZE), known).target.id == "a"


def test_only_a_model_that_takes_tensors_is_given_them_and_nothing_else() -> None:
    known = fleet(
        replica("a", purpose=Purpose.INFER), replica("b", model="n"), replica("c", model="g", purpose=Purpose.GENERATE)
    )
    assert decided(request("m", Operation.INFER), known).target.id == "a"
    for operation in (Operation.CHAT, Operation.COMPLETION, Operation.EMBEDDING):
        with pytest.raises(InvalidField, match="/v2/models"):
            decided(request("m", operation), known)
    with pytest.raises(InvalidField, match="does not take tensors"):
        decided(request("n", Operation.INFER), known)
    with pytest.raises(InvalidField, match="generates text"):
        decided(request("g", Operation.INFER), known)


def test_preferred_regions_and_own_capacity_come_first() -> None:
    hosted = msgspec.structs.replace(replica("hosted"), price=Price(usd_per_million_prompt_tokens=1.0), region="eu")
    far, near = (
        msgspec.structs.replace(replica(name), region=region) for name, region in (("far", "us"), ("near", "eu"))
    )
    known = FleetSnapshot.of(1, (hosted, far, near), {"m": ModelRule(regions_first=("eu",))})
    busy = {ReplicaId("near"): 50}
    assert decided(request(), known, busy).target.id == "near"
    assert decided(request(), known, busy, excluded=frozenset({near.id})).target.id == "far"
    assert decided(request(), known, busy, excluded=frozenset({near.id, far.id})).target.id == "hosted"


def test_a_replica_that_has_just_come_back_gets_less() -> None:
    known = fleet(replica("a"), replica("b"))
    weights = {"a": 0.1, "b": 1.0}
    assert decided(request(), known, {ReplicaId("b"): 5}, weigh=lambda one: weights[one.id]).target.id == "b"
    assert decided(request(), known, {ReplicaId("b"): 15}, weigh=lambda one: weights[one.id]).target.id == "a"


def test_rules_say_which_pools_and_regions_serve_a_model() -> None:
    elsewhere = msgspec.structs.replace(replica("b"), region="us", pool=PoolName("q"))
    for rule in (ModelRule(pools=(PoolName("p"),)), ModelRule(regions_only=("eu",))):
        here = msgspec.structs.replace(replica("a"), region="eu")
        assert [one.id for one in FleetSnapshot.of(1, (here, elsewhere), {"m": rule}).by_model["m"]] == ["a"]


def test_a_fleet_that_is_drained_does_not_ask_to_come_back() -> None:
    drained = msgspec.structs.replace(replica("a"), is_draining=True)
    with pytest.raises(EngineUnavailable, match="drained") as caught:
        decided(request(), fleet(drained))
    assert caught.value.retry_after_s is None
