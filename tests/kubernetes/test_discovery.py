"""Replicas are found as they come and go, whatever becomes of the watch, and the API away leaves what was known."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from heterodyne.fleet.kubernetes import api, reflector
from heterodyne.fleet.settings import PoolSettings
from tests.support.kubernetes.followed import followed
from tests.support.kubernetes.objects import NAMESPACE, endpoint, endpoint_slice, node, pod, service
from tests.support.kubernetes.server import KubernetesServer, kubernetes_server
from tests.support.kubernetes.store import Json

SERVICE = PoolSettings(model="m", discover="kubernetes", kubernetes_service="chat")
SELECTOR = PoolSettings(model="m", discover="kubernetes", kubernetes_selector="app=vllm-chat", kubernetes_port="8000")
SLICE = ("discovery.k8s.io", "endpointslices", NAMESPACE, "chat-x")
PODS = ("", "pods", NAMESPACE)


async def put(server: KubernetesServer, made: Json, group: str, plural: str) -> None:
    meta = made["metadata"]
    await server.store.create((group, plural, meta.get("namespace", ""), meta["name"]), made)


@asynccontextmanager
async def cluster(*names: str) -> AsyncIterator[KubernetesServer]:
    """A Service with so many ready pods, at 10.0.0.1 and up, all on one node."""
    async with kubernetes_server() as server:
        await put(server, node("gpu-1"), "", "nodes")
        await put(server, service(), "", "services")
        places = {name: f"10.0.0.{number}" for number, name in enumerate(names, 1)}
        for name, ip in places.items():
            await put(server, pod(name, ip=ip), "", "pods")
        endpoints = [endpoint(name, ip) for name, ip in places.items()]
        await put(server, endpoint_slice("chat-x", *endpoints), "discovery.k8s.io", "endpointslices")
        yield server


async def set_endpoints(server: KubernetesServer, *endpoints: Json) -> None:
    await server.store.patch(SLICE, {"endpoints": list(endpoints)})


async def test_endpoints_of_a_service_come_and_go() -> None:
    async with cluster("a", "b") as server, followed(server, SERVICE) as pool:
        await pool.until(lambda: pool.ready == {"a": "10.0.0.1:8000", "b": "10.0.0.2:8000"})
        await put(server, pod_c := pod("c", ip="10.0.0.3"), "", "pods")
        await set_endpoints(server, endpoint("a", "10.0.0.1"), endpoint("c", pod_c["status"]["podIP"]))
        await pool.until(lambda: set(pool.ready) == {"a", "c"})
        await set_endpoints(server, endpoint("a", "10.0.0.1", terminating=True), endpoint("c", "10.0.0.3"))
        await pool.until(lambda: set(pool.ready) == {"c"})
        assert pool.problems == {}


async def test_pods_of_a_selector_come_and_go_by_their_labels() -> None:
    async with cluster("a") as server, followed(server, SELECTOR) as pool:
        await pool.until(lambda: pool.ready == {"a": "10.0.0.1:8000"})
        await put(server, pod("b", ip="10.0.0.2", ready=False), "", "pods")
        await pool.until(lambda: len(pool.found.replicas or ()) == 2)
        assert set(pool.ready) == {"a"}
        await server.store.patch((*PODS, "b"), {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        await pool.until(lambda: set(pool.ready) == {"a", "b"})
        await server.store.patch((*PODS, "a"), {"metadata": {"labels": {"app": "other"}}})
        await pool.until(lambda: set(pool.ready) == {"b"})


async def test_what_a_node_says_comes_with_its_endpoints() -> None:
    async with cluster("a") as server, followed(server, SERVICE) as pool:
        await pool.until(lambda: bool(pool.ready))
        [found] = pool.found.replicas or ()
        assert found.node is not None
        assert (found.node.metadata.labels or {})["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"


@pytest.mark.parametrize("in_stream", [False, True])
async def test_a_forgotten_version_is_listed_anew(monkeypatch: pytest.MonkeyPatch, in_stream: bool) -> None:
    monkeypatch.setattr(reflector, "WATCH_S", 1.0)
    async with cluster("a", "b") as server, followed(server, SERVICE) as pool:
        server.has_expiry_in_stream = in_stream
        await pool.until(lambda: set(pool.ready) == {"a", "b"})
        await server.stop()  # and meanwhile everything changes and is forgotten
        await set_endpoints(server, endpoint("b", "10.0.0.2"))
        server.store.forget()
        await server.start()
        await pool.until(lambda: set(pool.ready) == {"b"})


async def test_bookmarks_spare_a_new_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "WATCH_S", 1.0)
    async with cluster("a") as server, followed(server, SERVICE) as pool:
        await pool.until(lambda: bool(pool.ready))
        lists = sum(one.verb == "list" for one in server.rights.asked)
        await put(server, pod("elsewhere", labels={"app": "other"}), "", "pods")
        await asyncio.sleep(0.5)  # bookmarks come every 0.2 s
        server.store.forget()
        watches = sum(one.verb == "watch" for one in server.rights.asked)
        await pool.until(lambda: sum(one.verb == "watch" for one in server.rights.asked) > watches + 1)
        assert sum(one.verb == "list" for one in server.rights.asked) == lists


async def test_a_resync_finds_what_no_event_told() -> None:
    async with cluster("a", "b") as server, followed(server, SERVICE, resync_s=1.0) as pool:
        await pool.until(lambda: set(pool.ready) == {"a", "b"})
        server.store.objects[SLICE]["endpoints"].pop()  # without a word to anybody
        await pool.until(lambda: set(pool.ready) == {"a"})


async def test_more_objects_than_a_page_are_all_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "PAGE_OBJECTS", 3)
    names = [f"chat-{number:02}" for number in range(10)]
    async with cluster(*names) as server, followed(server, SELECTOR) as pool:
        await pool.until(lambda: sorted(pool.ready) == names)


async def test_while_the_api_is_away_the_fleet_stays_and_that_is_told() -> None:
    async with cluster("a", "b") as server, followed(server, SERVICE) as pool:
        await pool.until(lambda: set(pool.ready) == {"a", "b"})
        heard_at = pool.found.heard_at
        assert heard_at is not None
        await server.stop()
        await pool.until(lambda: "away" in pool.problems)
        assert set(pool.ready) == {"a", "b"}
        assert (pool.found.heard_at or 0) - heard_at < 5
        await set_endpoints(server, endpoint("b", "10.0.0.2"))
        await server.start()
        await pool.until(lambda: set(pool.ready) == {"b"} and not pool.problems)


async def test_no_rights_are_named_with_verb_and_path() -> None:
    async with cluster("a") as server:
        server.rights.grant("poor", NAMESPACE, [{"apiGroups": [""], "resources": ["services"], "verbs": ["get"]}])
        async with followed(server, SERVICE, token="poor") as pool:
            await pool.until(lambda: "forbidden" in pool.problems and pool.found.replicas is None)
            assert "list /a" in pool.problems["forbidden"]
            assert 'cannot list resource "' in pool.problems["forbidden"]


async def test_without_the_right_to_read_nodes_it_serves_on_and_says_so() -> None:
    rules = [
        {"apiGroups": [""], "resources": ["services"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
    ]
    async with cluster("a") as server:
        server.rights.grant("gateway", NAMESPACE, rules)
        async with followed(server, SERVICE, token="gateway") as pool:
            await pool.until(lambda: set(pool.ready) == {"a"})
            assert "get /api/v1/nodes/gpu-1: 403" in pool.problems["forbidden"]


async def test_a_service_that_is_not_there_yet_is_waited_for() -> None:
    async with kubernetes_server() as server, followed(server, SERVICE) as pool:
        await pool.until(lambda: "not_found" in pool.problems)
        assert "get /api/v1/namespaces/llm/services/chat: 404" in pool.problems["not_found"]
        await put(server, service(), "", "services")
        await pool.until(lambda: pool.problems.keys() == {"no_pods"})
        assert pool.problems["no_pods"] == "Service chat: no pod has these labels"


async def test_a_pod_that_cannot_start_says_why() -> None:
    wait = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "vllm:nope"'}
    broken = {"containerStatuses": [{"name": "engine", "image": "vllm:nope", "state": {"waiting": wait}}]}
    nobody = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "Insufficient gpu"}]
    async with cluster("a") as server, followed(server, SERVICE) as pool:
        await put(server, pod("b", ip="10.0.0.2", ready=False, status=broken), "", "pods")
        await put(server, pod("c", ip=None, node=None, status={"conditions": nobody}), "", "pods")
        await pool.until(lambda: {"waiting", "unschedulable"} <= pool.problems.keys())
        assert pool.problems["waiting"].startswith(
            "Pod llm/b: container engine (vllm:nope): ImagePullBackOff: Back-off"
        )
        assert pool.problems["unschedulable"] == "Pod llm/c: no node takes it: Unschedulable: Insufficient gpu"
        assert set(pool.ready) == {"a"}


async def test_a_service_that_selects_other_pods_is_followed_to_them() -> None:
    async with cluster("a") as server, followed(server, SERVICE, resync_s=1.0) as pool:
        await pool.until(lambda: set(pool.ready) == {"a"})
        await put(server, pod("n", ip="10.0.1.1", labels={"app": "new", "team": "x"}), "", "pods")
        await server.store.patch(("", "services", NAMESPACE, "chat"), {"spec": {"selector": {"app": "new"}}})
        await set_endpoints(server, endpoint("n", "10.0.1.1"))

        def has_labels() -> bool:
            return any(one.endpoint.labels.get("team") == "x" for one in pool.found.replicas or ())

        await pool.until(has_labels)
