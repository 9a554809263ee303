"""The driver of a Ray cluster behaves as all fleet drivers do, on a real cluster."""

from functools import partial

import pytest

from tests.contract import test_fleet_drivers
from tests.contract.test_fleet_drivers import *  # noqa: F403  # its tests, with another driver
from tests.support.driver_bench import OpenBench
from tests.support.ray_cluster import RayCluster, ray_bench

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def open_bench(cluster: RayCluster) -> OpenBench:
    return partial(ray_bench, cluster)


def test_all_of_them_are_here() -> None:
    written = {name for name in vars(test_fleet_drivers) if name.startswith("test_")}
    assert written <= globals().keys()
