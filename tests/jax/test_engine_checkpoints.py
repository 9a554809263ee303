"""The registry's JAX checkpoint in the JAX engine: the same numbers as from SafeTensors."""

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("orbax.checkpoint", reason="needs the extra `jax`; `make test-jax` installs it")

import jax

from heterodyne.domain.errors import OperatorError
from heterodyne.jax_engine.served_model import model_of_folder
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from heterodyne.registry.tensors.orbax_checkpoint import TREE, save_orbax
from tests.support.jax_models import servable_model


def test_an_orbax_checkpoint_is_the_model_it_was_built_from(tmp_path: Path) -> None:
    source, built = servable_model(tmp_path / "source"), tmp_path / "built"
    built.mkdir()
    for path in source.glob("*.json"):
        shutil.copy(path, built)
    save_orbax(built / TREE, dict(CheckpointValues(open_safetensors(source).checkpoint)))
    expected, found = (model_of_folder(folder, "fp32").programs.weights for folder in (source, built))
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_a_folder_without_a_tokenizer_is_refused_by_its_path(tmp_path: Path) -> None:
    folder = servable_model(tmp_path / "source")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(OperatorError, match=r"tokenizer\.json: is missing"):
        model_of_folder(folder, "fp32")
