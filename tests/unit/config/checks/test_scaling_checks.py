"""What pools that grow and shrink must say, one check at a time."""

import pytest

from heterodyne.config.checks import scaling_checks
from heterodyne.config.checks.catalogue import Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.scaling_settings import ScalingSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.stores.settings import StoreSettings

ALONE = StoreSettings()
COMMAND = ("serve-it", "--port", "{port}")


def found(check: Check, *, acts: bool = False, stores: StoreSettings = ALONE, **pool: object) -> list[str]:
    mode = "act" if acts else "dry-run"
    settings = Settings(
        autoscaling=ScalingSettings(mode=mode),
        stores=stores,
        pools={"p": PoolSettings(model="m", **pool)},  # type: ignore[arg-type]
    )
    return [str(problem) for problem in check(settings, {})]


@pytest.mark.parametrize(
    ("table", "word"),
    [({"minimun": 1}, "minimum"), ({"maximum": 0}, ">= 1"), ({"minimum": 1.5}, "int"), ({"minimum": 9}, "more than")],
)
def test_a_table_that_cannot_be_is_refused_by_what_is_wrong(table: dict[str, float], word: str) -> None:
    (problem,) = found(scaling_checks.autoscaling_tables_can_be, autoscaling={"maximum": 4, **table})
    assert problem.startswith("pools.p.autoscaling: ")
    assert word in problem


def test_a_pool_that_grows_says_what_a_replica_carries() -> None:
    check = scaling_checks.a_pool_that_grows_says_what_a_replica_carries
    (problem,) = found(check, autoscaling={"maximum": 4})
    assert "requests_per_s" in problem
    assert not found(check, autoscaling={"maximum": 4, "requests_per_s": 2})
    assert not found(check)


def test_replicas_of_urls_cannot_be_started_but_may_be_reckoned_with() -> None:
    check = scaling_checks.what_grows_can_be_started
    pool = {"urls": ("http://10.0.0.1:8000",), "autoscaling": {"requests_per_s": 2}}
    assert not found(check, **pool)
    (problem,) = found(check, acts=True, **pool)
    assert problem.startswith("pools.p.autoscaling: ")
    assert not found(check, acts=True, command=COMMAND, autoscaling={"requests_per_s": 2})
    driven = {"discover": "kubernetes", "kubernetes_workload": "deployment/chat"}
    assert not found(check, acts=True, autoscaling={"requests_per_s": 2}, **driven)


def test_gateways_that_scale_a_cluster_together_share_a_database() -> None:
    check = scaling_checks.gateways_that_scale_together_know_who_leads
    pool = {
        "autoscaling": {"requests_per_s": 2},
        "discover": "kubernetes",
        "kubernetes_workload": "deployment/chat",
    }
    told = StoreSettings(fleet_url="redis://fleet:6379")
    (problem,) = found(check, acts=True, stores=told, **pool)  # type: ignore[arg-type]
    assert problem.startswith("stores.url: ")
    assert found(check, acts=True, stores=told, command=COMMAND, runs_on="ray", autoscaling={"requests_per_s": 2})
    assert not found(check, stores=told, **pool)  # type: ignore[arg-type]
    assert not found(check, acts=True, **pool)  # type: ignore[arg-type]
    shared = StoreSettings(url="postgresql://db/x", fleet_url="redis://fleet:6379")
    assert not found(check, acts=True, stores=shared, **pool)  # type: ignore[arg-type]
    assert not found(check, acts=True, stores=told, command=COMMAND, autoscaling={"requests_per_s": 2})


def test_a_command_says_where_it_listens() -> None:
    check = scaling_checks.commands_say_where_to_listen
    assert not found(check, command=COMMAND)
    (problem,) = found(check, command=("serve-it",))
    assert problem.startswith("pools.p.command: ")
