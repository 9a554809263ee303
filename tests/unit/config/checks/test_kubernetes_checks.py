"""A discovered pool says which pods it means, and no other pool says anything of pods."""

from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.config.checks.kubernetes_checks import (
    a_cluster_is_asked_for_one_set_of_pods,
    a_kubeconfig_is_there,
    a_pool_that_grows_in_a_cluster_names_its_workload,
    keda_can_ask,
    only_discovered_pools_have_a_cluster,
)
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import FleetSettings, PoolSettings

GOOD = PoolSettings(model="m", discover="kubernetes", kubernetes_service="chat", kubernetes_port="8000")


def complaints(**changes: object) -> list[str]:
    settings = Settings(pools={"chat": structs.replace(GOOD, **changes)})
    checks = (a_cluster_is_asked_for_one_set_of_pods, only_discovered_pools_have_a_cluster)
    return [f"{one.path}: {one.message}" for check in checks for one in check(settings, {})]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kubernetes_service": None}, "pools.chat.discover: neither kubernetes_service nor kubernetes_selector"),
        ({"kubernetes_selector": "a=b"}, "pools.chat.discover: both kubernetes_service and kubernetes_selector"),
        ({"kubernetes_port": "70000"}, "pools.chat.kubernetes_port: a port is 1 to 65535"),
    ],
)
def test_what_is_wrong_with_a_discovered_pool_is_named(changes: dict[str, object], words: str) -> None:
    [said] = complaints(**changes)
    assert said.startswith(words)
    assert complaints() == []


def test_pods_of_a_pool_that_is_not_discovered_are_a_slip() -> None:
    said = complaints(discover=None, urls=("http://a:1",))
    assert [one.partition(":")[0] for one in said] == ["pools.chat.kubernetes_service", "pools.chat.kubernetes_port"]


def test_a_pool_that_grows_names_its_workload_and_one_with_a_workload_grows() -> None:
    def said(**changes: object) -> list[str]:
        settings = Settings(pools={"chat": structs.replace(GOOD, **changes)})
        return [f"{one.path}: {one.message}" for one in a_pool_that_grows_in_a_cluster_names_its_workload(settings, {})]

    both = {"autoscaling": {"requests_per_s": 1.0}, "kubernetes_workload": "deployment/chat"}
    assert said() == said(**both) == []
    assert said(autoscaling=both["autoscaling"]) == ["pools.chat.autoscaling: says nothing without kubernetes_workload"]
    assert said(kubernetes_workload="deployment/chat") == [
        "pools.chat.kubernetes_workload: says nothing without autoscaling"
    ]


def test_a_pool_that_keda_scales_has_somebody_whom_keda_asks() -> None:
    pool = structs.replace(GOOD, kubernetes_scaler="keda", kubernetes_workload="deployment/chat")
    settings = Settings(pools={"chat": pool})
    assert [one.message for one in keda_can_ask(settings, {})] == ["KEDA has nobody to ask; set fleet.keda_port"]
    assert not list(keda_can_ask(structs.replace(settings, fleet=FleetSettings(keda_port=9090)), {}))
    alone = Settings(pools={"chat": structs.replace(pool, kubernetes_scaler="hpa", kubernetes_workload=None)})
    assert [one.message for one in keda_can_ask(alone, {})] == ["says nothing without kubernetes_workload"]


def test_a_kubeconfig_that_is_named_is_a_file(tmp_path: Path) -> None:
    def said(**fields: str) -> list[str]:
        return [one.path for one in a_kubeconfig_is_there(Settings(fleet=FleetSettings(**fields)), {})]

    (tmp_path / "config").touch()
    assert said(kubeconfig=str(tmp_path / "config"), kubeconfig_context="x") == []
    assert said(kubeconfig=str(tmp_path / "nowhere")) == ["fleet.kubeconfig"]
    assert said(kubeconfig_context="x") == ["fleet.kubeconfig_context"]
