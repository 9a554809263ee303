"""Problems name the setting they are about, wherever it stands in the file now."""

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.supervisor.fleet.setting_path import setting_path


def test_the_address_decides_and_not_the_id() -> None:
    settings = Settings(pools={"p": PoolSettings(model="m", urls=("http://a", "https://b/x/"))})
    [a, b] = remote_replicas(settings)
    assert setting_path(settings, a) == "pools.p.urls[0]"
    moved = Settings(pools={"p": PoolSettings(model="m", urls=("https://b/x/", "http://a"))})
    assert setting_path(moved, a) == "pools.p.urls[1]"
    assert setting_path(moved, b) == "pools.p.urls[0]"
    assert setting_path(moved, structs.replace(a, host="elsewhere")) == "pools.p"
