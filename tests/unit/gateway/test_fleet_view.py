"""The bytes that every request to a replica begins with."""

import os
from typing import Any

import pytest
from msgspec import structs

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.engines.catalogue import DIALECTS
from heterodyne.gateway.fleet_view import FleetView

REPLICA = Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="openai", host="h", port=81)


def view(*replicas: Replica) -> FleetView:
    return FleetView(DIALECTS, FleetSnapshot.of(1, replicas))


def test_a_head_has_the_path_the_id_and_the_length() -> None:
    assert view(REPLICA).wire(REPLICA.id).request_head("/v1/x", "req_1", b"x" * 12) == (
        b"POST /v1/x HTTP/1.1\r\nhost: h:81\r\ncontent-type: application/json\r\nx-request-id: req_1\r\n"
        b"content-length: 12\r\n\r\n"
    )


def test_an_engines_key_comes_from_the_environment() -> None:
    name = "PATH"  # any that is set
    keyed = Replica(
        id=ReplicaId("p-1"), pool=PoolName("p"), model="m", engine="openai", host="h", port=81, api_key_env=name
    )
    head = view(keyed).wire(keyed.id).request_head("/", "1", b"")
    assert f"\r\nauthorization: Bearer {os.environ[name]}\r\n".encode() in head


def test_a_newer_snapshot_replaces_the_old_one_whole() -> None:
    fleet = view(REPLICA)
    other = Replica(id=ReplicaId("q-0"), pool=PoolName("q"), model="n", engine="llamacpp", host="h", port=82)
    fleet.publish(FleetSnapshot.of(2, (other,)))
    assert fleet.snapshot.version == 2
    assert list(fleet.snapshot.by_model) == ["n"]
    assert fleet.wire(other.id).dialect.name == "llamacpp"
    assert fleet.wire(other.id).response_headers == b"x-heterodyne-pool: q\r\nx-heterodyne-replica: q-0\r\n"


def test_news_of_a_replicas_load_change_no_byte_of_its_requests() -> None:
    fleet = view(REPLICA)
    wire = fleet.wire(REPLICA.id)
    loaded = structs.replace(REPLICA, load=EngineLoad(running=3), health=Health.READY, context_tokens=4096)
    fleet.publish(FleetSnapshot.of(2, (loaded,)))
    assert fleet.wire(REPLICA.id) is wire
    assert wire.replica is loaded


@pytest.mark.parametrize(
    "change", [{"host": "i"}, {"port": 82}, {"tls": True}, {"engine": "vllm"}, {"pool": "q"}, {"api_key_env": "PATH"}]
)
def test_another_address_key_or_engine_is_another_wire(change: dict[str, Any]) -> None:
    fleet = view(REPLICA)
    wire = fleet.wire(REPLICA.id)
    fleet.publish(FleetSnapshot.of(2, (structs.replace(REPLICA, **change),)))
    assert fleet.wire(REPLICA.id) is not wire
    assert wire.replica is REPLICA, "whoever is under way keeps what it began with"


def test_an_ipv6_host_is_named_in_brackets() -> None:
    head = view(structs.replace(REPLICA, host="::1")).wire(REPLICA.id).request_head("/", "1", b"")
    assert b"\r\nhost: [::1]:81\r\n" in head
