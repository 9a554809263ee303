"""A discovered pool says which pods it means, and no other pool says anything of pods."""

from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.config.checks.kubernetes_checks import (
    a_cluster_is_asked_for_one_set_of_pods,
    a_kubeconfig_is_there,
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


def test_a_kubeconfig_that_is_named_is_a_file(tmp_path: Path) -> None:
    def said(**fields: str) -> list[str]:
        return [one.path for one in a_kubeconfig_is_there(Settings(fleet=FleetSettings(**fields)), {})]

    (tmp_path / "config").touch()
    assert said(kubeconfig=str(tmp_path / "config"), kubeconfig_context="x") == []
    assert said(kubeconfig=str(tmp_path / "nowhere")) == ["fleet.kubeconfig"]
    assert said(kubeconfig_context="x") == ["fleet.kubeconfig_context"]
