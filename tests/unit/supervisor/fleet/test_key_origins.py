"""Where a pool's key may be sent."""

import pytest

from heterodyne.console.errors import ChangeRefused
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.fleet.key_origins import check_key_origin

POOL = PoolSettings(
    model="m",
    urls=("https://api.example/v1", "http://10.0.0.7:8000"),
    api_key_env="UPSTREAM",
    api_key_origins=("https://backup.example:8443",),
)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example/v2",
        "https://API.example:443",
        "https://api.example.",
        "http://10.0.0.7:8000/other",
        "https://backup.example:8443/v1",
    ],
)
def test_the_origins_of_its_urls_and_those_it_lists_may_have_the_key(url: str) -> None:
    check_key_origin("hosted", POOL, url)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example",
        "http://api.example",
        "https://api.example:8443",
        "https://api.example.evil.example",
        "https://backup.example",
        "http://10.0.0.7:8001",
    ],
)
def test_no_other_may(url: str) -> None:
    with pytest.raises(ChangeRefused, match="api_key_origins") as caught:
        check_key_origin("hosted", POOL, url)
    assert "UPSTREAM" in caught.value.message
    assert "https://api.example, " in caught.value.message


def test_a_pool_without_a_key_has_none_to_send() -> None:
    check_key_origin("own", PoolSettings(model="m", urls=("http://a",)), "http://b")
