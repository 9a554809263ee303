"""The rights that the chart gives are those that are asked for: no call is refused, and none is given for nothing."""

from pathlib import Path
from typing import Any

from heterodyne.fleet.settings import PoolSettings
from tests.kubernetes.test_discovery import SELECTOR, SERVICE, cluster
from tests.kubernetes.test_scaling import settled
from tests.support.kubernetes.chart import NAMESPACE, of_kind, rendered
from tests.support.kubernetes.driver import POOL, driven_cluster
from tests.support.kubernetes.followed import followed
from tests.support.kubernetes.server import KubernetesServer

Right = tuple[str, str, str]  # group, resource, verb


def rights(objects: list[dict[str, Any]]) -> set[Right]:
    return {
        (group, resource, verb)
        for one in objects
        for rule in one["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def granted(server: KubernetesServer, objects: list[dict[str, Any]], token: str) -> None:
    for one in of_kind(objects, "Role"):
        server.rights.grant(token, one["metadata"]["namespace"], one["rules"])
    for one in of_kind(objects, "ClusterRole"):
        server.rights.grant(token, "", one["rules"])


async def used(server: KubernetesServer, pool: PoolSettings, token: str) -> set[Right]:
    server.rights.asked.clear()
    async with followed(server, pool, token=token) as one:
        await one.until(lambda: set(one.ready) == {"a"} and server.watches > (pool.kubernetes_service is not None))
        assert one.problems == {}
    return {asked.right for asked in server.rights.asked}


async def test_discovery_uses_every_right_of_the_role_and_no_other(tmp_path: Path) -> None:
    objects = rendered(tmp_path, {"discovery": {"enabled": True, "namespaces": ["llm"]}})
    roles = [*of_kind(objects, "Role"), *of_kind(objects, "ClusterRole")]
    async with cluster("a") as server:
        granted(server, roles, "gateway")
        assert await used(server, SERVICE, "gateway") == rights(roles)
        assert await used(server, SELECTOR, "gateway") < rights(roles)


async def test_scaling_uses_every_right_of_its_role_and_no_other(tmp_path: Path) -> None:
    values = {
        "discovery": {"enabled": True, "namespaces": ["llm"]},
        "scaling": {"workloads": ["deployment/chat"]},
    }
    objects = rendered(tmp_path, values)
    roles = [*of_kind(objects, "Role"), *of_kind(objects, "ClusterRole")]
    async with driven_cluster(token="gateway") as cluster:
        granted(cluster.server, roles, "gateway")
        await settled(cluster, 1)
        await cluster.driver.scale(POOL, 2, seen=1)
        ids = await settled(cluster, 2)
        await cluster.driver.scale(POOL, 1, seen=2, leaving=ids[:1])
        assert await settled(cluster, 1) == ids[1:]
        assert {asked.right for asked in cluster.server.rights.asked} == rights(roles)


def test_roles_are_bound_to_the_account_that_the_pod_has(tmp_path: Path) -> None:
    objects = rendered(tmp_path, {"discovery": {"enabled": True, "namespaces": ["llm", "batch"]}})
    [account] = of_kind(objects, "ServiceAccount")
    [deployment] = of_kind(objects, "Deployment")
    name = account["metadata"]["name"]
    assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == name
    bindings = [*of_kind(objects, "RoleBinding"), *of_kind(objects, "ClusterRoleBinding")]
    assert [one["metadata"].get("namespace") for one in bindings] == ["llm", "batch", None]
    roles = {
        (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"])
        for one in objects
        if one["kind"] in ("Role", "ClusterRole")
    }
    for one in bindings:
        assert one["subjects"] == [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}]
        assert (one["roleRef"]["kind"], one["metadata"].get("namespace"), one["roleRef"]["name"]) in roles


def test_without_discovery_there_are_no_rights_at_all(tmp_path: Path) -> None:
    objects = rendered(tmp_path, {})
    assert not [one for one in objects if one["apiVersion"].startswith("rbac")]
