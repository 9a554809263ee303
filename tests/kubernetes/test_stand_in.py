"""Kubernetes' own client takes the stand-in for an API server: what it sees is what a cluster would say."""

import threading
from collections.abc import Iterator

import pytest
from kubernetes import client, watch
from kubernetes.client.exceptions import ApiException

from tests.support.kubernetes.objects import NAMESPACE, deployment, pod
from tests.support.kubernetes.server import ADMIN, KubernetesServer, kubernetes_server
from tests.support.threads import in_thread


@pytest.fixture
def server() -> Iterator[KubernetesServer]:
    with in_thread(kubernetes_server()) as one:
        yield one


def api_client(server: KubernetesServer, token: str = ADMIN) -> client.ApiClient:
    configuration = client.Configuration(host=server.url, api_key={"authorization": f"Bearer {token}"})
    configuration.retries = False
    return client.ApiClient(configuration)


@pytest.fixture
def core(server: KubernetesServer) -> client.CoreV1Api:
    return client.CoreV1Api(api_client(server))


def test_the_official_client_creates_lists_in_pages_and_chooses_by_labels(core: client.CoreV1Api) -> None:
    for number in range(5):
        core.create_namespaced_pod(NAMESPACE, pod(f"chat-{number}", labels={"half": str(number % 2)}))
    page = core.list_namespaced_pod(NAMESPACE, limit=2)
    rest = core.list_namespaced_pod(NAMESPACE, limit=5, _continue=page.metadata._continue)
    assert [one.metadata.name for one in (*page.items, *rest.items)] == [f"chat-{number}" for number in range(5)]
    assert len(core.list_namespaced_pod(NAMESPACE, label_selector="app=vllm-chat,half in (1)").items) == 2
    with pytest.raises(ApiException, match="AlreadyExists"):
        core.create_namespaced_pod(NAMESPACE, pod("chat-0"))


def test_the_official_client_watches_from_a_version_on(core: client.CoreV1Api) -> None:
    core.create_namespaced_pod(NAMESPACE, pod("before"))
    version = core.list_namespaced_pod(NAMESPACE).metadata.resource_version
    seen: list[tuple[str, str]] = []

    def follow() -> None:
        events = watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, resource_version=version, timeout_seconds=5)
        for event in events:
            seen.append((event["type"], event["object"].metadata.name))
            if event["type"] == "DELETED":
                return

    thread = threading.Thread(target=follow)
    thread.start()
    core.create_namespaced_pod(NAMESPACE, pod("after"))
    core.patch_namespaced_pod("after", NAMESPACE, {"metadata": {"labels": {"a": "b"}}})
    core.delete_namespaced_pod("after", NAMESPACE)
    thread.join(10)
    assert seen == [("ADDED", "after"), ("MODIFIED", "after"), ("DELETED", "after")]


@pytest.mark.parametrize("in_stream", [False, True])
def test_the_official_client_is_told_that_a_version_is_forgotten(
    core: client.CoreV1Api, server: KubernetesServer, in_stream: bool
) -> None:
    version = core.list_namespaced_pod(NAMESPACE).metadata.resource_version
    core.create_namespaced_pod(NAMESPACE, pod("chat-0"))
    server.store.forget()
    server.has_expiry_in_stream = in_stream
    stream = watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, resource_version=version, timeout_seconds=1)
    with pytest.raises(ApiException) as told:
        list(stream)
    assert told.value.status == 410


def test_the_official_client_scales_and_meets_conflicts(server: KubernetesServer) -> None:
    apps = client.AppsV1Api(api_client(server))
    apps.create_namespaced_deployment(NAMESPACE, deployment(replicas=2))
    scale = apps.read_namespaced_deployment_scale("chat", NAMESPACE)
    apps.patch_namespaced_deployment_scale("chat", NAMESPACE, {"spec": {"replicas": 3}}, field_manager="somebody")
    scale.spec.replicas = 5
    with pytest.raises(ApiException, match="Conflict"):
        apps.replace_namespaced_deployment_scale("chat", NAMESPACE, scale)
    now = apps.read_namespaced_deployment("chat", NAMESPACE)
    assert (now.spec.replicas, now.metadata.managed_fields[0].manager) == (3, "somebody")


def test_rights_are_those_of_the_role(server: KubernetesServer) -> None:
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    server.rights.grant("reader", NAMESPACE, [rule])
    reader = client.CoreV1Api(api_client(server, "reader"))
    assert reader.list_namespaced_pod(NAMESPACE).items == []
    with pytest.raises(ApiException) as told:
        reader.list_namespaced_pod("elsewhere")
    assert told.value.status == 403
    with pytest.raises(ApiException) as told:
        client.CoreV1Api(api_client(server, "nobody")).list_namespaced_pod(NAMESPACE)
    assert told.value.status == 401
