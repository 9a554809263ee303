"""Requests for a model that may have no replica: held, if they have the time."""

import pytest
from msgspec import structs

from heterodyne.admission.waking import check_awake_in_time, try_wake
from heterodyne.domain.errors import EngineUnavailable, NotInTime, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, PoolName, Replica, ReplicaId, Wake
from heterodyne.domain.start_time import StartTime
from heterodyne.routing.no_replica import no_replica_error

WAKE = Wake(start=StartTime(usual_s=40.0, spread=0.1))
RULES = {"m": ModelRule(wake=WAKE)}
ONE = Replica(id=ReplicaId("chat-0"), pool=PoolName("chat"), model="m", engine="openai", host="h", port=1)


def fleet(*replicas: Replica) -> FleetSnapshot:
    return FleetSnapshot.of(1, replicas, RULES)


def test_a_model_is_held_for_until_one_of_its_replicas_is_ready() -> None:
    assert try_wake(fleet(), "m") is WAKE
    assert try_wake(fleet(ONE), "m") is WAKE
    assert try_wake(fleet(structs.replace(ONE, health=Health.READY)), "m") is None
    assert try_wake(fleet(), "other") is None


def test_what_is_told_is_what_is_left_of_a_start() -> None:
    assert WAKE.wait_s(100.0) == 40.0
    coming = structs.replace(WAKE, asked_at_s=90.0)
    assert coming.wait_s(100.0) == pytest.approx(30.0, abs=0.5)
    assert 0.0 < coming.wait_s(200.0) < 4.0, "one that is late will be there soon"


def test_a_request_without_the_time_is_told_when_to_come_again() -> None:
    check_awake_in_time(WAKE, 150.0, 100.0)
    with pytest.raises(NotInTime) as refused:
        check_awake_in_time(WAKE, 139.0, 100.0)
    assert refused.value.retry_after_s == 40


def test_a_model_that_sleeps_is_one_that_clients_may_ask_for() -> None:
    assert fleet().names == ("m",)
    assert fleet(ONE).asleep == ()
    assert isinstance(no_replica_error("m", fleet(), has_failed=False), EngineUnavailable)
    assert isinstance(no_replica_error("other", fleet(), has_failed=False), UnknownModel)
