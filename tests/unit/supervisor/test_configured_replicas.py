"""Pools become replicas, and what is said of models becomes rules."""

from pathlib import Path

import msgspec
import pytest

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Purpose, Replica
from heterodyne.domain.price import Price
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.settings import PhysicsSettings
from heterodyne.planning.hardware.ranking import lowest_price
from heterodyne.supervisor.configured_replicas import local_replicas, model_rules, remote_replicas
from heterodyne.supervisor.workers.order import WorkerOrder

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


def test_what_is_said_of_placing_requests_is_a_rule_in_seconds_bytes_and_the_catalogues_names() -> None:
    model = ModelSettings(
        policy="mix",
        policy_override=False,
        slo_ttft_ms=500,
        slo_itl_ms=25,
        fallbacks_when_late=("n",),
        kv="sticky",
        prefer_hardware=("H100", "h100-sxm", "mi300x"),
        prefer_labels={"tier": "gold"},
        mix={"slo": 0.7, "cost": 0.3},
        require_hardware=("H200", "mi300x"),
        require_engines=("vllm",),
        require_labels={"vendor": "amd"},
        require_memory_gib_min=192.0,
    )
    [rule] = model_rules(Settings(models={"m": model})).values()
    assert rule.routing == RoutingRule(
        policy="mix",
        ttft_slo_s=0.5,
        itl_slo_s=0.025,
        kv=KvStrategy.STICKY,
        prefers_hardware=("h100-sxm", "mi300x"),
        prefers_labels={"tier": "gold"},
        mix={"slo": 0.7, "cost": 0.3},
        is_overridable=False,
    )
    assert (rule.requires.hardware, rule.requires.engines) == (("h200-sxm", "mi300x"), ("vllm",))
    assert rule.requires.labels == {"vendor": "amd"}
    assert rule.requires.memory_bytes_min == pytest.approx(192 * 2**30, rel=1e-4)
    assert rule.late_fallbacks == ("n",)


def test_nothing_said_of_a_model_is_the_rule_that_every_model_has() -> None:
    assert model_rules(Settings(models={"m": ModelSettings()})) == {"m": ModelRule()}


def test_the_memory_of_a_replica_is_that_of_all_its_chips_as_the_settings_have_them() -> None:
    chips = accelerators()
    assert replica(PoolSettings(model="m", urls=URLS, hardware="h100", tp=4)).memory_bytes == 4 * int(
        chips["h100-sxm"].memory_bytes
    )
    physics = PhysicsSettings(hardware={"h100-sxm": {"memory_bytes": 1e9}})
    assert replica(PoolSettings(model="m", urls=URLS, hardware="h100", tp=2), physics).memory_bytes == 2 * 10**9
    assert replica(PoolSettings(model="m", urls=URLS)).memory_bytes is None


@pytest.mark.parametrize(
    ("model", "allowed"),
    [
        (ModelSettings(), ["h100", "mi300x", "somewhere"]),
        (ModelSettings(require_hardware=("H100",)), ["h100"]),
        (ModelSettings(require_hardware=("H100", "mi300x")), ["h100", "mi300x"]),
        (ModelSettings(require_engines=("vllm", "sglang")), ["h100", "mi300x"]),
        (ModelSettings(require_labels={"vendor": "amd"}), ["mi300x", "somewhere"]),
        (ModelSettings(require_labels={"vendor": "amd", "tier": "gold"}), ["mi300x"]),
        (ModelSettings(require_memory_gib_min=79.18), ["h100", "mi300x"]),  # as `hardware list` shows it
        (ModelSettings(require_memory_gib_min=80), ["mi300x"]),
        (ModelSettings(require_labels={"vendor": "amd"}, regions_only=("us",)), ["mi300x"]),
    ],
)
def test_a_replica_without_what_a_model_requires_is_none_of_its_own(model: ModelSettings, allowed: list[str]) -> None:
    settings = Settings(
        pools={
            "h100": PoolSettings(model="m", urls=URLS, hardware="h100", engine="vllm", labels={"vendor": "nvidia"}),
            "mi300x": PoolSettings(
                model="m",
                urls=URLS,
                hardware="mi300x",
                engine="sglang",
                region="us",
                labels={"vendor": "amd", "tier": "gold"},
            ),
            "somewhere": PoolSettings(model="m", urls=URLS, labels={"vendor": "amd"}),
        },
        models={"m": model},
    )
    fleet = FleetSnapshot.of(1, remote_replicas(settings), model_rules(settings))
    assert [one.pool for one in fleet.by_model["m"]] == allowed


def test_a_model_may_keep_to_some_of_its_pools() -> None:
    assert model_rules(Settings(models={"m": ModelSettings(pools=("a",))})) == {"m": ModelRule(pools=("a",))}


def test_a_worker_is_told_replicas_and_rules_unchanged() -> None:
    settings = Settings(
        pools={"p": PoolSettings(model="m", urls=URLS, hardware="h100", labels={"a": "b"})},
        models={
            "m": ModelSettings(
                aliases=("fast",),
                policy="cost",
                slo_ttft_ms=300,
                require_memory_gib_min=40,
                require_labels={"a": "b"},
                prefer_hardware=("h100",),
                mix={"slo": 1.0},
            )
        },
    )
    order = WorkerOrder(
        name="w", settings=settings, replicas=remote_replicas(settings), rules=model_rules(settings), run_dir="/tmp/x"
    )
    assert msgspec.json.decode(msgspec.json.encode(order), type=WorkerOrder) == order
