"""Pools become replicas, and what is said of models becomes rules."""

from pathlib import Path

import msgspec
import pytest

from heterodyne.assembly.replicas import local_replicas, model_rules, remote_replicas
from heterodyne.assembly.worker_order import WorkerOrder
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Price, Purpose, Replica
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.settings import PhysicsSettings
from heterodyne.planning.hardware_choice import lowest_price

URLS = ("http://h:1",)


def replica(pool: PoolSettings, physics: PhysicsSettings | None = None) -> Replica:
    """The one replica of a pool reached by one URL."""
    [found] = remote_replicas(Settings(pools={"p": pool}, physics=physics or PhysicsSettings()))
    return found


@pytest.mark.parametrize(
    ("url", "host", "port", "tls", "base_path"),
    [
        ("http://h:1", "h", 1, False, ""),
        ("http://h", "h", 80, False, ""),
        ("https://h/a/b/", "h", 443, True, "/a/b"),
        ("http://[::1]:9", "::1", 9, False, ""),
    ],
)
def test_a_url_is_taken_apart(url: str, host: str, port: int, tls: bool, base_path: str) -> None:
    [replica] = remote_replicas(Settings(pools={"p": PoolSettings(model="m", urls=(url,))}))
    assert (replica.host, replica.port, replica.tls, replica.base_path) == (host, port, tls, base_path)


def test_every_url_is_a_replica_with_a_name_of_its_own() -> None:
    pools = {"p": PoolSettings(model="m", urls=("http://h:1", "http://h:2")), "q": PoolSettings(model="m")}
    assert [replica.id for replica in remote_replicas(Settings(pools=pools))] == ["p-0", "p-1"]


def test_what_a_pool_says_of_itself_is_said_of_its_replicas() -> None:
    found = replica(
        PoolSettings(
            model="m",
            urls=URLS,
            engine="vllm",
            version="2026-05",
            hardware="H100",
            tp=4,
            region="eu-west",
            labels={"team": "search"},
            in_flight_max=7,
            adapters={"law": "/srv/law", "code": "/srv/code"},
        )
    )
    assert (found.version, found.hardware, found.tp, found.region) == ("2026-05", "h100-sxm", 4, "eu-west")
    assert (found.labels, found.in_flight_max, found.adapters) == (
        {"team": "search"},
        7,
        {"law": "/srv/law", "code": "/srv/code"},
    )
    assert found.purpose is None


def test_the_price_a_pool_states_goes_before_that_of_its_hardware() -> None:
    found = replica(PoolSettings(model="m", urls=URLS, hardware="h100", price_usd_per_hour=0.0))
    assert found.price == Price(usd_per_hour=0.0)


def test_a_pool_without_a_price_has_the_lowest_of_its_hardware_for_all_its_chips() -> None:
    lowest = lowest_price(accelerators()["mi300x"])
    assert lowest is not None
    found = replica(PoolSettings(model="m", urls=URLS, hardware="mi300x", tp=8))
    assert found.price == Price(usd_per_hour=8 * lowest.usd_per_hour)


def test_a_price_of_hardware_in_the_settings_replaces_the_catalogues() -> None:
    price = {"provider": "us", "usd_per_hour": 1.25, "day": "2026-05-01"}
    physics = PhysicsSettings(hardware={"h100-sxm": {"prices": [price]}})
    assert replica(PoolSettings(model="m", urls=URLS, hardware="h100", tp=2), physics).price.usd_per_hour == 2.5


def test_hosted_capacity_is_priced_by_the_token_whatever_it_runs_on() -> None:
    pool = PoolSettings(model="m", urls=URLS, hardware="h100", price_usd_per_million_completion_tokens=2.0)
    found = replica(pool)
    assert found.price == Price(usd_per_million_completion_tokens=2.0)
    assert found.price.is_by_token


def test_a_replica_of_which_nobody_knows_a_price_is_not_priced() -> None:
    for hardware in (None, "m4-max"):
        assert replica(PoolSettings(model="m", urls=URLS, hardware=hardware)).price == Price()


def test_a_pool_may_start_several_replicas_each_on_a_port_of_its_own() -> None:
    pools = {
        "chat": PoolSettings(model="m", engine="llamacpp", weights="file:/m", replicas=3, slots=2, region="here"),
        "vectors": PoolSettings(model="e", engine="llamacpp", weights="file:/e", purpose="embed"),
        "away": PoolSettings(model="m", urls=URLS),
    }
    local = local_replicas(Settings(pools=pools), {"chat": Path("/m"), "vectors": Path("/e")})
    assert [one.replica.id for one in local] == ["chat-0", "chat-1", "chat-2", "vectors-0"]
    assert len({one.replica.port for one in local}) == 4
    assert [one.order.port for one in local] == [one.replica.port for one in local]
    assert [one.order.model_path for one in local] == ["/m", "/m", "/m", "/e"]
    assert [one.replica.purpose for one in local[2:]] == [Purpose.GENERATE, Purpose.EMBED]
    assert (local[0].order.slots, local[0].replica.region) == (2, "here")


def test_what_is_said_of_a_model_is_a_rule_of_the_fleet() -> None:
    settings = Settings(
        pools={
            "eu": PoolSettings(model="m", urls=URLS, region="eu"),
            "us": PoolSettings(model="m", urls=URLS, region="us"),
        },
        models={"m": ModelSettings(aliases=("fast",), fallbacks=("n",), regions_only=("eu",), context_tokens=4096)},
    )
    rules = model_rules(settings)
    assert rules == {"m": ModelRule(aliases=("fast",), fallbacks=("n",), regions_only=("eu",), context_tokens=4096)}
    fleet = FleetSnapshot.of(1, remote_replicas(settings), rules)
    assert [one.id for one in fleet.by_model["m"]] == ["eu-0"]
    assert fleet.aliases == {"fast": "m"}


def test_a_model_may_keep_to_some_of_its_pools() -> None:
    assert model_rules(Settings(models={"m": ModelSettings(pools=("a",))})) == {"m": ModelRule(pools=("a",))}


def test_a_worker_is_told_replicas_and_rules_unchanged() -> None:
    settings = Settings(
        pools={"p": PoolSettings(model="m", urls=URLS, hardware="h100", labels={"a": "b"})},
        models={"m": ModelSettings(aliases=("fast",))},
    )
    order = WorkerOrder(
        name="w", settings=settings, replicas=remote_replicas(settings), rules=model_rules(settings), run_dir="/tmp/x"
    )
    assert msgspec.json.decode(msgspec.json.encode(order), type=WorkerOrder) == order
