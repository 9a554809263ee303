"""The word for what a reload would change."""

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.stores.settings import StoreSettings
from heterodyne.supervisor.fleet.settings_version import PATHS_MAX, differing, in_words, version_of

POOL = PoolSettings(model="m", urls=("http://a:1",), labels={"a": "1", "b": "2"})
SETTINGS = Settings(pools={"chat": POOL, "llama-3.1": POOL})


def test_what_a_reload_changes_changes_it_and_is_named_by_its_path() -> None:
    other = structs.replace(
        SETTINGS,
        gateway=GatewaySettings(drain_timeout_s=7.0),
        pools={"chat": POOL, "llama-3.1": structs.replace(POOL, price_usd_per_hour=2.0), "new": POOL},
    )
    one, two = version_of(SETTINGS), version_of(other)
    assert one.word != two.word
    assert differing(one, two) == ("gateway", 'pools."llama-3.1"', "pools.new")


def test_what_waits_for_a_restart_is_each_machines_own() -> None:
    other = structs.replace(
        SETTINGS,
        gateway=GatewaySettings(port=9000, workers=3),
        stores=StoreSettings(fleet_url="rediss://:secret@fleet/0"),
    )
    assert version_of(other) == version_of(SETTINGS)


def test_the_order_of_names_says_nothing() -> None:
    turned = structs.replace(POOL, labels={"b": "2", "a": "1"})
    assert version_of(Settings(pools={"llama-3.1": POOL, "chat": turned})) == version_of(SETTINGS)


def test_of_many_paths_some_are_named() -> None:
    paths = tuple(f"pools.p{number}" for number in range(PATHS_MAX + 2))
    assert in_words(paths).endswith("and 2 more")
