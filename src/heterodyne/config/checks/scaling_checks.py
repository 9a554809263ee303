"""Checks of pools that grow and shrink by themselves, each one sentence for the operator."""

from collections.abc import Iterator, Mapping

import msgspec

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.nearest import with_near_field
from heterodyne.fleet.pool_scaling import PoolScaling

TABLE = "autoscaling"


def autoscaling_tables_can_be(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Each number is known and in its range."""
    for name, pool in settings.pools.items():
        if not pool.autoscaling:
            continue
        path = dotted(POOLS, name, TABLE)
        try:
            table = msgspec.convert(pool.autoscaling, PoolScaling, strict=False)
        except msgspec.ValidationError as error:
            yield SettingProblem(path=path, message=with_near_field(str(error), PoolScaling))
            continue
        if table.minimum > table.maximum:
            message = f"minimum {table.minimum} is more than maximum {table.maximum}"
            yield SettingProblem(path=path, message=message)


def a_pool_that_grows_says_what_a_replica_carries(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Without it nobody knows how many replicas a load needs."""
    for name, pool in settings.pools.items():
        if pool.autoscaling and "requests_per_s" not in pool.autoscaling:
            path = dotted(POOLS, name, TABLE)
            yield SettingProblem(
                path=path,
                message="requests_per_s is missing: how many requests a second one replica carries within the promise; "
                "`heterodyne bench` measures it",
                rests_on=(path,),
            )


def what_grows_can_be_started(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """An autoscaler that acts needs somebody who starts replicas."""
    if settings.autoscaling.mode != "act":
        return
    for name, pool in settings.pools.items():
        if pool.autoscaling and not pool.is_started_here and pool.kubernetes_workload is None:
            yield SettingProblem(
                path=dotted(POOLS, name, TABLE),
                message="nobody starts replicas of urls from here; give weights or a command, the "
                "kubernetes_workload of what a cluster runs, or set "
                'autoscaling.mode to "dry-run"',
                rests_on=(dotted(POOLS, name),),
            )


def gateways_that_scale_together_know_who_leads(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Each gateway leads in a database of its own, and all of them would act."""
    if (
        settings.autoscaling.mode != "act"
        or not settings.stores.fleet_url
        or not settings.stores.url.startswith("sqlite")
    ):
        return
    for name, pool in settings.pools.items():
        is_shared = pool.kubernetes_workload is not None or pool.runs_on != "here"
        if pool.autoscaling and is_shared:
            yield SettingProblem(
                path="stores.url",
                message=f"a file, in which every gateway leads: with stores.fleet_url each would scale pools.{name}; "
                "give the postgresql:// address that they share",
                rests_on=(dotted(POOLS, name), "stores.fleet_url"),
            )
            return


def commands_say_where_to_listen(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Each replica of a pool has a port of its own."""
    for name, pool in settings.pools.items():
        if pool.command and not any("{port}" in word for word in pool.command):
            yield SettingProblem(
                path=dotted(POOLS, name, "command"),
                message="no word has {port}, so every replica would listen on the same one",
            )
