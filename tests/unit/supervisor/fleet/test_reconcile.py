"""Who stays, who comes and who goes when the settings change."""

from pathlib import Path

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.configured_replicas import local_replicas, remote_replicas
from heterodyne.supervisor.fleet.reconcile import FleetMember, ReconcilePlan, free_id, members, reconcile


def wanted(**pools: PoolSettings) -> tuple[FleetMember, ...]:
    settings = Settings(pools=pools)
    weights = {name: Path("/weights") for name, pool in pools.items() if pool.weights is not None}
    return members(remote_replicas(settings), local_replicas(settings, weights))


def urls(*places: str, **more: object) -> PoolSettings:
    return PoolSettings(model="m", urls=tuple(f"http://{place}" for place in places), **more)  # type: ignore[arg-type]


def local(**more: object) -> PoolSettings:
    return PoolSettings(model="m", engine="llamacpp", weights="file:/weights", **more)  # type: ignore[arg-type]


def hosts(some: tuple[FleetMember, ...]) -> dict[str, str]:
    return {member.replica.id: member.replica.host for member in some}


def test_the_same_settings_change_nothing() -> None:
    running = wanted(p=urls("a", "b"), q=local(replicas=2))
    plan = reconcile(running, wanted(p=urls("a", "b"), q=local(replicas=2)))
    assert plan == ReconcilePlan(retained=plan.retained, added=(), removed=(), changed=())
    assert sorted(plan.retained, key=str) == sorted(running, key=str), "with the ports they listen on"


def test_an_id_stays_with_its_engine_when_the_list_of_urls_moves() -> None:
    plan = reconcile(wanted(p=urls("a", "b", "c")), wanted(p=urls("c", "a")))
    assert hosts(plan.retained) == {"p-2": "c", "p-0": "a"}
    assert hosts(plan.removed) == {"p-1": "b"}
    assert (plan.added, plan.changed) == ((), ())


def test_another_address_is_another_replica_with_an_id_of_its_own() -> None:
    plan = reconcile(wanted(p=urls("a")), wanted(p=urls("b")))
    assert hosts(plan.added) == {"p-1": "b"}
    assert hosts(plan.removed) == {"p-0": "a"}


def test_ids_of_replicas_on_their_way_out_are_not_given_again() -> None:
    plan = reconcile((), wanted(p=urls("a")), taken=[ReplicaId("p-0")])
    assert hosts(plan.added) == {"p-1": "a"}


def test_a_price_or_a_label_changes_in_place() -> None:
    plan = reconcile(wanted(p=urls("a")), wanted(p=urls("a", price_usd_per_hour=2.0, labels={"team": "x"})))
    assert plan.changed == ("p-0",)
    assert plan.retained[0].replica.price.usd_per_hour == 2.0
    assert (plan.added, plan.removed) == ((), ())


def test_another_size_of_a_local_replica_is_another_process() -> None:
    running = wanted(p=local(slots=2))
    plan = reconcile(running, wanted(p=local(slots=4)))
    assert plan.removed == running
    [added] = plan.added
    assert added.replica.id == "p-1"
    assert added.order is not None
    assert added.order.port == added.replica.port != running[0].replica.port


def test_fewer_local_replicas_keep_the_first_ones() -> None:
    running = wanted(p=local(replicas=3))
    plan = reconcile(running, wanted(p=local(replicas=1)))
    assert [member.replica.id for member in plan.retained] == ["p-0"]
    assert [member.replica.id for member in plan.removed] == ["p-1", "p-2"]
    assert plan.retained[0].order == running[0].order


def test_an_addition_that_the_settings_now_have_stays_and_is_no_addition_any_more() -> None:
    [a, b] = wanted(p=urls("a", "b"))
    plan = reconcile((a, structs.replace(b, is_added=True)), wanted(p=urls("a", "b")))
    assert [member.is_added for member in plan.retained] == [False, False]
    assert plan.removed == ()


def test_an_addition_that_they_do_not_have_goes() -> None:
    [a, b] = wanted(p=urls("a", "b"))
    plan = reconcile((a, structs.replace(b, is_added=True)), wanted(p=urls("a")))
    assert [member.is_added for member in plan.removed] == [True]


def test_the_free_id_is_the_preferred_one_or_the_lowest() -> None:
    pool = PoolName("p")
    assert free_id(pool, (), preferred=ReplicaId("p-7")) == "p-7"
    assert free_id(pool, [ReplicaId("p-0"), ReplicaId("p-2")], preferred=ReplicaId("p-2")) == "p-1"
