"""Problems name the setting they are about, wherever it stands in the file now."""

from msgspec import structs

from heterodyne.assembly.replica_place import replica_place
from heterodyne.assembly.replicas import remote_replicas
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings


def test_the_address_decides_and_not_the_id() -> None:
    settings = Settings(pools={"p": PoolSettings(model="m", urls=("http://a", "https://b/x/"))})
    [a, b] = remote_replicas(settings)
    assert replica_place(settings, a) == "pools.p.urls[0]"
    moved = Settings(pools={"p": PoolSettings(model="m", urls=("https://b/x/", "http://a"))})
    assert replica_place(moved, a) == "pools.p.urls[1]"
    assert replica_place(moved, b) == "pools.p.urls[0]"
    assert replica_place(moved, structs.replace(a, host="elsewhere")) == "pools.p"
