"""Why a replica may not be asked; it says so exactly where the fleet leaves the replica out."""

from itertools import product

import pytest
from msgspec import structs

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, PoolName, Replica, rule_against
from heterodyne.domain.routing_rule import Requirement
from heterodyne.routing.explanation.exclusion import by_health, by_state
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.settings import RoutingSettings
from tests.support.replica_states import replica

GIB = 2**30
REPLICAS = (
    replica("plain"),
    replica("h100", "q", hardware="h100-sxm", memory_bytes=80 * GIB, region="eu", labels={"tier": "gold"}),
    replica("mi", "p", hardware="mi300x", memory_bytes=192 * GIB, region="us", engine="sglang"),
)
RULES = tuple(
    ModelRule(pools=pools, regions_only=regions, requires=requires)
    for pools, regions, requires in product(
        (None, (PoolName("q"),)),
        ((), ("eu",)),
        (
            Requirement(),
            Requirement(hardware=("mi300x",)),
            Requirement(engines=("sglang",)),
            Requirement(labels={"tier": "gold"}),
            Requirement(memory_bytes_min=100 * GIB),
        ),
    )
)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("one", REPLICAS, ids=lambda one: one.id)
def test_a_rule_excludes_in_words_whom_it_excludes_in_fact(one: Replica, rule: ModelRule) -> None:
    serves = one in FleetSnapshot.of(1, (one,), {"m": rule}).by_model.get("m", ())
    assert serves == (rule_against(one, rule) == "")


def test_the_words_name_what_is_required_and_what_is_there() -> None:
    plain = REPLICAS[0]
    assert rule_against(plain, ModelRule(requires=Requirement(memory_bytes_min=100 * GIB))) == (
        "unknown memory, and 100 GiB is required"
    )
    assert rule_against(plain, ModelRule(regions_only=("eu", "us"))) == "region unknown, and only eu, us may be used"
    assert rule_against(plain, None) == ""


def test_states_are_told() -> None:
    ready = replica("a")
    assert by_state(ready) == ""
    assert by_state(structs.replace(ready, health=Health.DOWN)) == "down"
    assert by_state(structs.replace(ready, is_draining=True)).startswith("draining")
    assert by_state(structs.replace(ready, health=Health.STARTING)).startswith("starting")
    assert by_state(structs.replace(ready, load=EngineLoad(is_asleep=True))) == "asleep"


def test_a_full_replica_and_one_that_fails_are_told() -> None:
    full = replica("a", in_flight_max=2)
    fleet_health = FleetHealth(
        RoutingSettings(ejection_failures=2, panic_share=0.0), FleetSnapshot.of(1, (full, replica("b"))), 0.0
    )
    for _ in range(2):
        fleet_health.of(full.id).on_start(0.0, 10)
    assert by_health(fleet_health.of(full.id).snapshot(0.0), 0.0) == "full: 2 requests of at most 2"
    for _ in range(2):
        fleet_health.of(full.id).on_end(Outcome.BROKE, 1.0)
    assert by_health(fleet_health.of(full.id).snapshot(1.0), 1.0) == "ejected after failures, for 30 s more"
    assert by_health(fleet_health.of(replica("b").id).snapshot(1.0), 1.0) == ""
