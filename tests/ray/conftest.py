"""A real Ray cluster on loopback; only for those who name this folder, because it is heavy: `make test-ray`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.ray_cluster import RayCluster, ray_cluster

HERE = Path(__file__).parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Whoever runs all tests leaves these out."""
    named = (Path(argument.partition("::")[0]).resolve() for argument in config.args)
    return None if any(path.is_relative_to(HERE) for path in named) else True


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Of one node, with room for some small engines."""
    pytest.importorskip("ray", reason="needs the extra `ray`; `make test-ray` installs it")
    with ray_cluster() as one:
        yield one
