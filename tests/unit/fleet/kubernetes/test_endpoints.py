"""Slices and pods become endpoints: each engine once, at the port that is meant."""

import msgspec

from heterodyne.fleet.kubernetes.endpoints import pod_endpoints, slice_endpoints
from heterodyne.fleet.kubernetes.objects import EndpointSlice, Pod
from tests.support.kubernetes import objects
from tests.support.kubernetes.store import Json


def slices(*those: Json) -> list[EndpointSlice]:
    return msgspec.convert(list(those), list[EndpointSlice])


def pods(*those: Json) -> list[Pod]:
    return msgspec.convert(list(those), list[Pod])


def test_a_pod_with_an_address_of_each_family_is_one_endpoint() -> None:
    six = {**objects.endpoint_slice("chat-a", objects.endpoint("a", "fd00::1")), "addressType": "IPv6"}
    four = objects.endpoint_slice("chat-b", objects.endpoint("a", "10.0.0.1"))
    assert [one.host for one in slice_endpoints(slices(six, four), pods(objects.pod("a")), None)] == ["10.0.0.1"]


def test_the_same_endpoint_in_two_slices_is_one() -> None:
    both = (objects.endpoint_slice(name, objects.endpoint("a", "10.0.0.1")) for name in ("x", "y"))
    assert len(slice_endpoints(slices(*both), (), None)) == 1


def test_a_port_is_found_by_name_or_number_and_alone_it_needs_neither() -> None:
    made = objects.endpoint_slice("x", objects.endpoint("a", "10.0.0.1"))
    for port in (None, "http", 8000):
        assert [one.port for one in slice_endpoints(slices(made), (), port)] == [8000]
        assert [one.port for one in pod_endpoints(pods(objects.pod("a")), port)] == [8000]
    assert slice_endpoints(slices(made), (), "grpc") == ()
    made["ports"].append({"name": "metrics", "port": 9000})
    assert slice_endpoints(slices(made), (), None) == ()


def test_a_pod_listens_where_it_is_said_though_it_declares_nothing() -> None:
    assert [one.port for one in pod_endpoints(pods(objects.pod("a")), 9999)] == [9999]


def test_an_endpoint_without_conditions_is_ready_and_one_without_addresses_is_none() -> None:
    made = objects.endpoint_slice("x", {"addresses": ["10.0.0.1"]}, {"addresses": []})
    [one] = slice_endpoints(slices(made), (), None)
    assert (one.is_ready, one.is_terminating, one.id) == (True, False, "10.0.0.1-8000")


def test_addresses_that_are_names_are_not_called() -> None:
    made = {**objects.endpoint_slice("x", {"addresses": ["engine.example"]}), "addressType": "FQDN"}
    assert slice_endpoints(slices(made), (), None) == ()


def test_a_pod_of_a_stateful_set_has_another_id_in_its_next_life() -> None:
    owned = {"ownerReferences": [{"kind": "StatefulSet", "name": "chat"}]}
    lives = [objects.pod("chat-0", metadata={**owned, "uid": uid}) for uid in ("11111-a", "22222-b")]
    assert [one.id for one in pod_endpoints(pods(*lives), None)] == ["chat-0-11111", "chat-0-22222"]


def test_a_pod_that_is_deleted_or_over_takes_no_work() -> None:
    deleted = objects.pod("a", metadata={"deletionTimestamp": "2026-11-19T00:00:00Z"})
    over = objects.pod("b", status={"phase": "Failed"})
    [one] = pod_endpoints(pods(deleted, over), None)
    assert (one.id, one.is_ready, one.is_terminating) == ("a", False, True)


def test_an_empty_list_may_be_written_as_null() -> None:
    made = {**objects.endpoint_slice("x"), "endpoints": None, "ports": None}
    assert slice_endpoints(slices(made), (), None) == ()
