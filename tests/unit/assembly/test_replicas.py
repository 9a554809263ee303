"""Pools become replicas."""

import pytest

from heterodyne.assembly.replicas import remote_replicas
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings


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
