"""Where JAX is not installed, a build for it says what to install."""

import sys
from pathlib import Path

import pytest

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.catalog.build import BuildRequest, build_artifact
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.reference.jax_forward import jax_log_probabilities
from tests.support.catalogs import opened_catalog
from tests.support.tiny_models import tiny_model


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
async def test_the_missing_extra_is_named(precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jax", "orbax", "orbax.checkpoint"):
        monkeypatch.setitem(sys.modules, name, None)
    model = tiny_model(tmp_path / "model")
    async with opened_catalog(tmp_path) as catalog:
        version, _ = await import_version(catalog, read_reference("tiny"), model, f"file:{model}")
        request = BuildRequest(version=version, format=WeightFormat.ORBAX, precision=precision)
        with pytest.raises(WeightsUnavailable, match=r"pip install 'heterodyne\[jax\]'"):
            await build_artifact(catalog, request)
    with pytest.raises(WeightsUnavailable, match=r"pip install 'heterodyne\[jax\]'"):
        jax_log_probabilities(model)
