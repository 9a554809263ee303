"""The bytes that every request to a replica begins with."""

import os

from heterodyne.domain.fleet import FleetSnapshot, PoolName, Replica, ReplicaId
from heterodyne.engines.catalogue import DIALECTS
from heterodyne.gateway.fleet_view import FleetView

REPLICA = Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="openai", host="h", port=81)


def view(*replicas: Replica) -> FleetView:
    return FleetView(DIALECTS, FleetSnapshot.of(1, replicas))


def test_a_head_has_the_path_the_id_and_the_length() -> None:
    assert view(REPLICA).wire(REPLICA.id).request_head("/v1/x", "req_1", 12) == (
        b"POST /v1/x HTTP/1.1\r\nhost: h:81\r\ncontent-type: application/json\r\nx-request-id: req_1\r\n"
        b"content-length: 12\r\n\r\n"
    )


def test_an_engines_key_comes_from_the_environment() -> None:
    name = "PATH"  # any that is set
    keyed = Replica(
        id=ReplicaId("p-1"), pool=PoolName("p"), model="m", engine="openai", host="h", port=81, api_key_env=name
    )
    head = view(keyed).wire(keyed.id).request_head("/", "1", 0)
    assert f"\r\nauthorization: Bearer {os.environ[name]}\r\n".encode() in head


def test_a_newer_snapshot_replaces_the_old_one_whole() -> None:
    fleet = view(REPLICA)
    other = Replica(id=ReplicaId("q-0"), pool=PoolName("q"), model="n", engine="llamacpp", host="h", port=82)
    fleet.publish(FleetSnapshot.of(2, (other,)))
    assert fleet.snapshot.version == 2
    assert list(fleet.snapshot.by_model) == ["n"]
    assert fleet.wire(other.id).dialect.name == "llamacpp"
    assert fleet.wire(other.id).response_headers == b"x-heterodyne-pool: q\r\nx-heterodyne-replica: q-0\r\n"
