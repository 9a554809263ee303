"""`heterodyne serve` beside a cluster: pods come and go under load, and the cluster's API with them."""

import json
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.kubernetes.objects import (
    NAMESPACE,
    deployment,
    endpoint,
    endpoint_slice,
    kubeconfig,
    node,
    pod,
    service,
)
from tests.support.kubernetes.server import ADMIN, KubernetesServer, kubernetes_server
from tests.support.kubernetes.store import Json
from tests.support.threads import in_thread

TOKENS = 60
WAIT_S = 20.0


class Cluster:
    """Pods that are scripted engines, each in a slice of its own, as they listen at ports of their own."""

    def __init__(self, server: KubernetesServer, *names: str) -> None:
        self.server = server
        self._stack = ExitStack()
        self.engines = {name: self._engine() for name in names}
        self.put(node("gpu-1", "NVIDIA-L4"), "", "nodes")
        self.put(service(), "", "services")

    def _engine(self) -> ScriptedEngine:
        return self._stack.enter_context(in_thread(ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.02), model="m")))

    def close(self) -> None:
        self._stack.close()

    def put(self, made: Json, group: str, plural: str) -> None:
        meta = made["metadata"]
        self.server.call(self.server.store.create((group, plural, meta.get("namespace", ""), meta["name"]), made))

    def start(self, name: str) -> None:
        port = int(self.engines[name].url.rpartition(":")[2])
        self.put(pod(name, ip="127.0.0.1", labels={"app.kubernetes.io/version": "v7"}), "", "pods")
        self.put(endpoint_slice(name, endpoint(name, "127.0.0.1"), port=port), "discovery.k8s.io", "endpointslices")

    def set(self, name: str, **conditions: bool) -> None:
        key = ("discovery.k8s.io", "endpointslices", NAMESPACE, name)
        said = endpoint(name, "127.0.0.1", **conditions)
        self.server.call(self.server.store.patch(key, {"endpoints": [said]}))


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with in_thread(kubernetes_server()) as server:
        one = Cluster(server, "a", "b")
        yield one
        one.close()


def ask(serve: ServeProcess) -> HTTPResponse:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
    request = urllib.request.Request(
        f"{serve.url}/v1/chat/completions", body, {"content-type": "application/json"}, method="POST"
    )
    answer = urllib.request.urlopen(request, timeout=20)
    assert isinstance(answer, HTTPResponse)
    return answer


def is_whole(stream: bytes) -> bool:
    return stream.count(b"hello") == TOKENS and stream.endswith(b"data: [DONE]\n\n")


def sample(serve: ServeProcess, name: str, **labels: str) -> float:
    """The sum of those of pool chat with these labels."""
    with urllib.request.urlopen(f"{serve.url}/metrics", timeout=20) as answer:
        families = text_string_to_metric_families(answer.read().decode())
    wanted = {"pool": "chat", **labels}.items()
    return sum(
        one.value for family in families for one in family.samples if one.name == name and wanted <= one.labels.items()
    )


def count(serve: ServeProcess, state: str) -> float:
    """Replicas on the accelerator that the node's label names."""
    return sample(serve, "heterodyne_fleet_replicas", state=state, hardware="l4")


def until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < end_s, "it did not come to that"
        time.sleep(0.05)


def asked(engine: ScriptedEngine) -> int:
    return sum(call.path.endswith("completions") for call in engine.calls)


def config_of(folder: Path, cluster: Cluster, more: str = "") -> str:
    return (
        f'[fleet]\nkubeconfig = "{kubeconfig(folder, cluster.server, ADMIN)}"\n'
        f'[pools.chat]\nmodel = "m"\ndiscover = "kubernetes"\nkubernetes_service = "chat"\n{more}'
    )


def test_pods_come_and_go_without_a_broken_stream_and_the_api_may_be_away(tmp_path: Path, cluster: Cluster) -> None:
    cluster.start("a")
    with ServeProcess(tmp_path, config=config_of(tmp_path, cluster)) as serve:
        serve.wait_ready(60)
        until(lambda: count(serve, "ready") == 1)
        with ask(serve) as on_a:
            assert on_a.headers["x-heterodyne-replica"] == "a"
            cluster.start("b")
            until(lambda: count(serve, "ready") == 2)
            cluster.set("a", ready=False, terminating=True)
            until(lambda: count(serve, "leaving") == 1)
            before = asked(cluster.engines["a"])
            streams = [ask(serve) for _ in range(3)]
            assert {one.headers["x-heterodyne-replica"] for one in streams} == {"b"}
            assert is_whole(on_a.read())
        cluster.server.call(cluster.server.stop())
        until(lambda: sample(serve, "heterodyne_fleet_discovery_problems", problem="away") == 2)
        assert all(is_whole(one.read()) for one in (*streams, ask(serve)))
        assert asked(cluster.engines["a"]) == before
        assert time.time() - sample(serve, "heterodyne_fleet_discovery_heard_timestamp_seconds") < 60
        cluster.server.call(cluster.server.start())
        cluster.set("a", ready=True)  # a pod of the same name and address that came again
        until(lambda: count(serve, "ready") == 2)
        assert serve.stop() == 0, serve.log


def test_a_pool_that_may_be_scaled_is_served_as_its_driver_has_it_and_a_reload_hands_it_over(
    tmp_path: Path, cluster: Cluster
) -> None:
    cluster.put(deployment("chat", replicas=2), "apps", "deployments")
    cluster.start("a")
    scaled = 'kubernetes_workload = "deployment/chat"\nautoscaling = { maximum = 4, requests_per_s = 1 }\n'
    with ServeProcess(tmp_path, config=config_of(tmp_path, cluster, scaled)) as serve:
        serve.wait_ready(60)
        until(lambda: count(serve, "ready") == 1)
        cluster.start("b")
        until(lambda: count(serve, "ready") == 2)
        with ask(serve) as stream:
            cluster.set(stream.headers["x-heterodyne-replica"], ready=False, terminating=True)
            assert is_whole(stream.read())
        serve.config_file.write_text(config_of(tmp_path, cluster), encoding="utf-8")
        serve.process.send_signal(signal.SIGHUP)
        until(lambda: any(one["event"] == "reloaded" for one in serve.events()))
        cluster.server.call(cluster.server.store.delete(("apps", "deployments", NAMESPACE, "chat")))
        until(lambda: count(serve, "ready") == 1)
        assert is_whole(ask(serve).read())
        assert serve.stop() == 0, serve.log
