"""A model that is held to regions is not left by what its engines keep."""

import pytest

from heterodyne.config.checks.residency_checks import kv_stays_where_its_model_does
from heterodyne.config.settings import Settings
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings


@pytest.mark.parametrize(
    ("regions_only", "store", "message"),
    [
        ((), ("us",), ""),
        (("eu",), (), ""),
        (("eu",), ("eu",), ""),
        (("eu", "us"), ("us", "eu"), ""),
        (("eu",), ("us",), "models.m.regions_only is eu, and pool p of that model would leave its KV in us"),
        (("eu",), ("eu", "us"), "models.m.regions_only is eu, and pool p of that model would leave its KV in eu, us"),
    ],
)
def test_all_that_its_store_is_in_is_allowed(
    regions_only: tuple[str, ...], store: tuple[str, ...], message: str
) -> None:
    settings = Settings(
        pools={"p": PoolSettings(model="m", urls=("http://gpu1:8000",), region="eu", kv_store="shared")},
        models={"m": ModelSettings(regions_only=regions_only)},
        kv_stores={"shared": KvStoreSettings(medium="redis", capacity_gb=1.0, regions=store)},
    )
    found = [str(problem) for problem in kv_stays_where_its_model_does(settings, {})]
    assert found == ([f"kv_stores.shared.regions: {message}"] if message else [])
