"""Projections of eight bits as vLLM loads them: built, read back, checked, and built from again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.domain.errors import OperatorError, SettingsInvalid, UnknownName
from heterodyne.registry.building.builder import BuildOrder
from heterodyne.registry.building.calibration import input_mean_squares
from heterodyne.registry.building.compressed_tensors_builder import COMPRESSED_TENSORS
from heterodyne.registry.catalog.build import BuildRequest, build_artifact
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.catalog.source_files import inspect_source
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from tests.support.catalogs import opened_catalog
from tests.support.tiny_models import tiny_model

GGUF, SAFETENSORS = WeightFormat.GGUF, WeightFormat.SAFETENSORS
TOKENS = [5, 17, 40, 3, 99, 63, 12, 200, 8, 31]
GATE = "model.layers.0.mlp.gate_proj.weight"


def quantised(model: Path, target: Path, precision: str = "int8", calibration: str = "none") -> Path:
    order = BuildOrder(
        source=model,
        target=target,
        model="tiny",
        precision=precision,
        hardware="any",
        settings={"calibration": calibration},
    )
    COMPRESSED_TENSORS.run(order, lambda done, of: None)
    return target


def answers(folder: Path) -> np.ndarray:
    decoder = open_safetensors(folder)
    found: np.ndarray = log_probabilities(decoder.shape, CheckpointValues(decoder.checkpoint), TOKENS)
    return found


@pytest.mark.parametrize("model_type", ["llama", "qwen2", "gemma3_text"])
@pytest.mark.parametrize(("precision", "dtype", "near"), [("int8", "I8", 0.005), ("fp8", "F8_E4M3", 0.05)])
def test_projections_have_eight_bits_and_all_else_is_as_it_was(
    model_type: str, precision: str, dtype: str, near: float, tmp_path: Path
) -> None:
    model = tiny_model(tmp_path / "model", model_type, "bf16")
    folder = quantised(model, tmp_path / "out", precision)
    source, made = open_safetensors(model), open_safetensors(folder)
    rest = set(source.checkpoint.names) - source.projections.keys()
    for name, shape in source.projections.items():
        assert (made.checkpoint.place(name).dtype, made.checkpoint.place(name).shape) == (dtype, shape)
        scale = made.checkpoint.place(name + "_scale")
        assert (scale.dtype, scale.shape) == ("F32", (shape[0], 1))
    for name in rest:
        np.testing.assert_array_equal(made.checkpoint.stored(name), source.checkpoint.stored(name))
    assert len(made.checkpoint.names) == 2 * len(source.projections) + len(rest)
    expected = answers(model)
    divergence = (np.exp(expected) * (expected - answers(folder))).sum(axis=-1)
    assert divergence.mean() < near
    assert inspect_source(folder).precision == precision
    assert inspect_source(folder).facts == inspect_source(model).facts


def test_the_config_says_what_vllm_has_to_know(tmp_path: Path) -> None:
    folder = quantised(tiny_model(tmp_path / "model"), tmp_path / "out")
    config = json.loads((folder / "config.json").read_text())
    said = config.pop("quantization_config")
    assert config == json.loads((tmp_path / "model" / "config.json").read_text())
    assert (said["quant_method"], said["format"], said["ignore"]) == (
        "compressed-tensors",
        "int-quantized",
        ["lm_head"],
    )
    (group,) = said["config_groups"].values()
    weights, activations = group["weights"], group["input_activations"]
    assert (weights["strategy"], weights["symmetric"], weights["dynamic"]) == ("channel", True, False)
    assert (activations["strategy"], activations["num_bits"], activations["dynamic"]) == ("token", 8, True)
    assert (folder / "tokenizer.json").read_bytes() == (tmp_path / "model" / "tokenizer.json").read_bytes()


def test_calibration_weighs_errors_by_what_the_texts_bring(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    plain, weighed = (quantised(model, tmp_path / name, calibration=name) for name in ("none", "texts"))
    source = open_safetensors(model)
    squares = input_mean_squares(source)
    assert squares.keys() == source.projections.keys()
    assert all((one >= 0).all() and one.any() for one in squares.values())
    errors = []
    for folder in (plain, weighed):
        values = open_safetensors(folder).checkpoint.values(GATE)
        errors.append(
            (np.square(values - source.checkpoint.values(GATE), dtype=np.float64) * squares[GATE]).sum(axis=1)
        )
    assert (errors[1] <= errors[0] * (1 + 1e-9)).all()
    assert errors[1].sum() < errors[0].sum()


@pytest.mark.parametrize("calibration", ["none", "texts"])
def test_the_same_recipe_gives_the_same_bytes(calibration: str, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    one, other = (quantised(model, tmp_path / name, calibration=calibration) for name in ("one", "other"))
    for path in one.iterdir():
        assert (other / path.name).read_bytes() == path.read_bytes()
    assert sorted(path.name for path in one.iterdir()) == sorted(path.name for path in model.iterdir())


async def built(catalog: Catalog, model: Path, format: WeightFormat, precision: str, **settings: str) -> StoredArtifact:
    version, _ = await import_version(catalog, read_reference("tiny"), model, f"file:{model}")
    request = BuildRequest(version=version, format=format, precision=precision, settings=settings)
    return (await build_artifact(catalog, request))[0]


async def test_the_recipe_names_the_calibration_even_where_it_was_not_given(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    async with opened_catalog(tmp_path) as catalog:
        usual = await built(catalog, model, SAFETENSORS, "int8")
        assert usual.artifact.recipe.settings == {"calibration": "none"}
        assert await built(catalog, model, SAFETENSORS, "int8", calibration="none") == usual
        weighed = await built(catalog, model, SAFETENSORS, "int8", calibration="texts")
        assert weighed.artifact.digest != usual.artifact.digest
        with pytest.raises(SettingsInvalid, match='"some" is not known; none and texts are'):
            await built(catalog, model, SAFETENSORS, "int8", calibration="some")
        with pytest.raises(UnknownName, match='safetensors int8 has no setting "colour"; calibration'):
            await built(catalog, model, SAFETENSORS, "int8", colour="red")


async def test_others_are_built_from_eight_bits_too(tmp_path: Path) -> None:
    model = quantised(tiny_model(tmp_path / "model"), tmp_path / "eight")
    expected = open_safetensors(model).checkpoint
    async with opened_catalog(tmp_path) as catalog:
        widened = await built(catalog, model, SAFETENSORS, "fp32")
        folder = await catalog.local(widened)
        found = open_safetensors(folder).checkpoint
        assert "quantization_config" not in found.config
        assert {found.place(name).dtype for name in found.names} == {"F32"}
        for name in found.names:
            np.testing.assert_array_equal(found.values(name), expected.values(name))
        assert (await built(catalog, model, GGUF, "q8_0")).artifact.size_bytes > 0


def _without_config(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    del config["quantization_config"]
    (folder / "config.json").write_text(json.dumps(config))


def _rewritten(folder: Path, change: Callable[[dict[str, tuple[str, np.ndarray]]], None]) -> None:
    checkpoint = open_safetensors(folder).checkpoint
    tensors = {name: (checkpoint.place(name).dtype, np.array(checkpoint.stored(name))) for name in checkpoint.names}
    change(tensors)
    (folder / "model.safetensors").unlink()
    new = [
        NewTensor(name=name, dtype=dtype, shape=numbers.shape, make=lambda numbers=numbers: numbers)
        for name, (dtype, numbers) in tensors.items()
    ]
    write_checkpoint(folder, new)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_without_config, "says method None, format None; compressed-tensors, int-quantized is read"),
        (
            lambda folder: _rewritten(folder, lambda all: all.pop(GATE + "_scale")),
            f'has no tensor "{GATE}_scale", by which',
        ),
        (
            lambda folder: _rewritten(folder, lambda all: all.update({GATE + "_scale": ("F32", np.ones(512, "<f4"))})),
            r"is F32 \[512\]; a scale for each row is expected, \[512, 1\]",
        ),
        (
            lambda folder: _rewritten(
                folder, lambda all: all.update({"lm_head.weight": ("I8", np.ones((320, 256), np.int8))})
            ),
            'the tensor "lm_head.weight" is stored as I8, which only projections',
        ),
        (
            lambda folder: _rewritten(folder, lambda all: all.update({GATE: ("F32", np.ones((512, 256), "<f4"))})),
            f'has a tensor "{GATE}_scale", which no llama model has',
        ),
    ],
)
def test_what_is_not_of_the_layout_is_named(damage: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    folder = quantised(tiny_model(tmp_path / "model"), tmp_path / "out")
    damage(folder)
    with pytest.raises(OperatorError, match=words):
        inspect_source(folder)


def test_values_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    _rewritten(model, lambda all: all.update({GATE: ("F32", np.full((512, 256), np.nan, "<f4"))}))
    with pytest.raises(OperatorError, match=f'the tensor "{GATE}" has values that are no numbers'):
        quantised(model, tmp_path / "out")
    shutil.rmtree(model)
