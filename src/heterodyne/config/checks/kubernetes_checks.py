"""Checks of pools whose replicas a Kubernetes cluster knows."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import fields

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.fleet.kubernetes_settings import KubernetesPoolSettings

PLACES = ("kubernetes_service", "kubernetes_selector")


def a_cluster_is_asked_for_one_set_of_pods(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A Service or a selector says which pods are meant, and a port is a name or a number."""
    for name, pool in settings.pools.items():
        if pool.discover is None:
            continue
        given = [place for place in PLACES if getattr(pool, place) is not None]
        if len(given) != 1:
            what = "neither" if not given else "both"
            yield SettingProblem(
                path=dotted(POOLS, name, "discover"),
                message=f"{what} {' nor '.join(PLACES) if not given else ' and '.join(PLACES)}; give one of them",
                rests_on=tuple(dotted(POOLS, name, place) for place in PLACES),
            )
        port = pool.kubernetes_port
        if port is not None and port.isdecimal() and not 0 < int(port) < 65536:
            yield SettingProblem(path=dotted(POOLS, name, "kubernetes_port"), message="a port is 1 to 65535")


def only_discovered_pools_have_a_cluster(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """What is said of pods without `discover` is a slip: nobody would read it."""
    for name, pool in settings.pools.items():
        if pool.discover is not None:
            continue
        for one in fields(KubernetesPoolSettings):
            if getattr(pool, one.name) != one.default:
                yield SettingProblem(
                    path=dotted(POOLS, name, one.name),
                    message='says nothing without `discover = "kubernetes"`',
                    rests_on=(dotted(POOLS, name, "discover"),),
                )


def a_pool_that_grows_in_a_cluster_names_its_workload(
    settings: Settings, _: Mapping[str, str]
) -> Iterator[SettingProblem]:
    """Without one there is nothing to scale, and one that nothing scales is named for nothing."""
    for name, pool in settings.pools.items():
        if pool.discover is None or bool(pool.autoscaling) == (pool.kubernetes_workload is not None):
            continue
        missing, given = "kubernetes_workload", "autoscaling"
        if not pool.autoscaling:
            missing, given = given, missing
        yield SettingProblem(
            path=dotted(POOLS, name, given),
            message=f"says nothing without {missing}",
            rests_on=(dotted(POOLS, name, missing),),
        )


def a_kubeconfig_is_there(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A file that is named is one."""
    file = settings.fleet.kubeconfig
    if file is not None and not Path(file).expanduser().is_file():
        yield SettingProblem(path="fleet.kubeconfig", message=f'no file "{file}"')
    if file is None and settings.fleet.kubeconfig_context is not None:
        yield SettingProblem(
            path="fleet.kubeconfig_context",
            message="says nothing without fleet.kubeconfig",
            rests_on=("fleet.kubeconfig",),
        )
