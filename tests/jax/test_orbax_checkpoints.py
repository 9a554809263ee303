"""A model as JAX loads it: the same bytes each time, and the same answers as from its SafeTensors. `make test-jax`."""

import json
from pathlib import Path

import numpy as np
import pytest

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.domain.errors import OperatorError
from heterodyne.registry.catalog.build import BuildRequest, build_artifact
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.families.catalogue import BY_MODEL_TYPE
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.reference.jax_forward import jax_log_probabilities
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from heterodyne.registry.tensors.orbax_checkpoint import STEP_METADATA, TREE, load_orbax, save_orbax
from tests.support.catalogs import opened_catalog
from tests.support.tiny_models import tiny_model

pytest.importorskip("orbax.checkpoint", reason="needs the extra `jax`; `make test-jax` installs it")

TOKENS = [5, 17, 40, 3, 99, 63, 12, 200, 8, 31, 77, 150, 9, 20, 41]


async def built(catalog: Catalog, model: Path, precision: str = "fp32") -> StoredArtifact:
    version, _ = await import_version(catalog, read_reference("tiny"), model, f"file:{model}")
    request = BuildRequest(version=version, format=WeightFormat.ORBAX, precision=precision)
    return (await build_artifact(catalog, request))[0]


@pytest.mark.parametrize("model_type", BY_MODEL_TYPE)
async def test_jax_answers_as_the_reference(model_type: str, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model", model_type)
    decoder = open_safetensors(model)
    expected = log_probabilities(decoder.shape, CheckpointValues(decoder.checkpoint), TOKENS)
    async with opened_catalog(tmp_path) as catalog:
        folder = await catalog.local(await built(catalog, model))
    np.testing.assert_allclose(jax_log_probabilities(folder)(TOKENS), expected, atol=2e-3)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
async def test_two_registries_make_the_same_bytes(precision: str, tmp_path: Path) -> None:
    model, files = tiny_model(tmp_path / "model"), []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        async with opened_catalog(tmp_path / name) as catalog:
            stored = await built(catalog, model, precision)
            folder = await catalog.local(stored)
        files.append({str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    assert files[0] == files[1]
    assert {"config.json", "tokenizer.json", "tokenizer_config.json", f"{TREE}/{STEP_METADATA}"} <= files[0].keys()
    words = {"fp32": "float32", "bf16": "bfloat16"}
    assert json.loads(files[0]["config.json"])["dtype"] == words[precision]


async def test_the_numbers_come_back_by_their_names(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model", precision="bf16")
    source = open_safetensors(model).checkpoint
    async with opened_catalog(tmp_path) as catalog:
        stored = await built(catalog, model, "bf16")
        arrays = load_orbax(await catalog.local(stored) / TREE)
    assert arrays.keys() == set(source.names)
    for name, array in arrays.items():
        assert array.dtype.name == "bfloat16"
        np.testing.assert_array_equal(array.astype(np.float32), source.values(name))
    assert stored.provenance.tools.keys() >= {"jax", "orbax-checkpoint"}


def test_what_an_attempt_before_has_left_is_gone(tmp_path: Path) -> None:
    save_orbax(tmp_path / TREE, {"a.b": np.ones(3, np.float32), "a.c": np.zeros(2, np.float32)})
    (tmp_path / f"{TREE}.orbax-checkpoint-tmp").mkdir()
    save_orbax(tmp_path / TREE, {"a.b": np.full(3, 2, np.float32)})
    assert [path.name for path in tmp_path.iterdir()] == [TREE]
    assert {name: array.tolist() for name, array in load_orbax(tmp_path / TREE).items()} == {"a.b": [2.0, 2.0, 2.0]}


def test_what_is_no_checkpoint_is_said(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="is no Orbax checkpoint"):
        load_orbax(tmp_path)
    save_orbax(tmp_path / TREE, {"a": np.arange(64, dtype=np.float32)})
    next(path for path in (tmp_path / TREE / "a").iterdir() if path.name == ".zarray").unlink()
    with pytest.raises(OperatorError, match=str(tmp_path / TREE)):
        load_orbax(tmp_path / TREE)
