"""A LoRA adapter becomes part of a model's weights, or is refused with what is wrong with it."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heterodyne.domain.artifact import ModelVersion, StoredArtifact, WeightFormat
from heterodyne.domain.errors import OperatorError, SettingsInvalid, UnknownName
from heterodyne.registry.building.builder import BuildOrder
from heterodyne.registry.building.lora import LORA
from heterodyne.registry.catalog.build import BuildRequest, build_artifact
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.catalog.resolve import artifact_for
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.parity.judge import judge_version
from heterodyne.registry.tensors.lora_adapter import DOWN, PREFIX, UP, WEIGHTS, open_adapter
from heterodyne.registry.tensors.number_formats import BY_PRECISION, from_float32, to_float32
from tests.support.catalogs import opened_catalog
from tests.support.tiny_adapters import RANK, random_pairs, tiny_adapter, written_adapter
from tests.support.tiny_models import tiny_model

SAFETENSORS = WeightFormat.SAFETENSORS
QUERY = "model.layers.1.self_attn.q_proj"


async def imported(catalog: Catalog, model: Path) -> ModelVersion:
    return (await import_version(catalog, read_reference("tiny"), model, f"file:{model}"))[0]


async def merged(catalog: Catalog, version: ModelVersion, adapter: Path, precision: str = "fp32") -> StoredArtifact:
    settings = {"adapter": str(adapter)}
    request = BuildRequest(version=version, format=SAFETENSORS, precision=precision, settings=settings)
    return (await build_artifact(catalog, request))[0]


@pytest.mark.parametrize(("members", "factor"), [({}, 8 / RANK), ({"use_rslora": True}, 8 / math.sqrt(RANK))])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
async def test_the_product_is_added_to_the_weights(
    precision: str, members: dict[str, Any], factor: float, tmp_path: Path
) -> None:
    model = tiny_model(tmp_path / "model")
    adapter, pairs = tiny_adapter(tmp_path / "adapter", model, **members), random_pairs(model)
    source, dtype = open_safetensors(model).checkpoint, BY_PRECISION[precision]
    async with opened_catalog(tmp_path) as catalog:
        stored = await merged(catalog, await imported(catalog, model), adapter, precision)
        found = open_safetensors(await catalog.local(stored)).checkpoint
        assert sorted(found.names) == sorted(source.names)
        changed = set()
        for name in source.names:
            expected = source.values(name)
            module = PREFIX + name.removesuffix(".weight")
            if module + DOWN in pairs:
                expected = expected + np.float32(factor) * (pairs[module + UP] @ pairs[module + DOWN])
                changed.add(name.rpartition(".")[0].rpartition(".")[2])
            rounded = to_float32(from_float32(expected, dtype), dtype)
            np.testing.assert_allclose(
                found.values(name), rounded, rtol=1e-2 if precision == "bf16" else 1e-5, atol=1e-6
            )
        assert changed == {"q_proj", "down_proj"}
        assert (await catalog.local(stored) / "tokenizer_config.json").is_file()


async def test_another_adapter_is_another_artifact_and_the_same_elsewhere_is_not(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    one, other = (tiny_adapter(tmp_path / str(seed), model, seed) for seed in (3, 4))
    async with opened_catalog(tmp_path) as catalog:
        version = await imported(catalog, model)
        first = await merged(catalog, version, one)
        assert first.artifact.recipe.settings.keys() == {"adapter_sha256"}
        assert await merged(catalog, version, shutil.copytree(one, tmp_path / "copy")) == first
        second = await merged(catalog, version, other)
        assert second.artifact.digest != first.artifact.digest
        config = (tmp_path / "copy" / "adapter_config.json").read_text()
        (tmp_path / "copy" / "adapter_config.json").write_text(config.replace('"lora_alpha": 8', '"lora_alpha": 9'))
        third = await merged(catalog, version, tmp_path / "copy")
        assert third.artifact.recipe.settings != first.artifact.recipe.settings


async def test_without_an_adapter_the_precision_alone_is_changed(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as catalog:
        version = await imported(catalog, tiny_model(tmp_path / "model"))
        request = BuildRequest(version=version, format=SAFETENSORS, precision="fp16")
        assert (await build_artifact(catalog, request))[0].artifact.recipe.builder == "cast"
        for settings, error, words in (
            ({"adapter": ""}, SettingsInvalid, "names no folder"),
            ({"adaptor": "x"}, UnknownName, 'safetensors fp16 has no setting "adaptor"; adapter'),
        ):
            wrong = BuildRequest(version=version, format=SAFETENSORS, precision="fp16", settings=settings)
            with pytest.raises(error, match=words):
                await build_artifact(catalog, wrong)


def test_an_adapter_that_changes_under_the_build_is_noticed(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    settings = {"adapter": str(tiny_adapter(tmp_path / "adapter", model)), "adapter_sha256": "0" * 64}
    order = BuildOrder(
        source=model, target=tmp_path / "out", model="m", precision="fp16", hardware="any", settings=settings
    )
    with pytest.raises(OperatorError, match="was changed while it was merged"):
        LORA.run(order, lambda done, of: None)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"use_dora": True}, "asks for use_dora, which is not merged"),
        ({"bias": "lora_only"}, "asks for bias lora_only"),
        ({"modules_to_save": ["lm_head"]}, "asks for modules_to_save lm_head"),
        ({"peft_type": "IA3"}, "asks for peft_type IA3"),
        ({"rank_pattern": {"q_proj": 8}}, "asks for rank_pattern"),
        ({"r": 8}, r'lora_A.weight" is \[4, 512\]; by rank and model it is \[8, 512\]'),
        ({"r": 0}, "r is 0; a rank of 1 or more"),
        ({"r": "many"}, "adapter_config.json: Expected `int`"),
        ({"target_modules": ["q_proj", "wq"]}, 'target_modules has "wq"; the model has q_proj, k_proj'),
        ({"target_modules": ["q_proj", "v_proj"]}, 'target_modules has "v_proj", of which'),
    ],
)
def test_what_a_config_asks_for_and_is_not_merged_is_named(members: dict[str, Any], words: str, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    adapter = tiny_adapter(tmp_path / "adapter", model, **members)
    with pytest.raises(OperatorError, match=words):
        open_adapter(adapter, open_safetensors(model).projections)


Pairs = dict[str, np.ndarray]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda pairs: pairs.clear(), "has no tensors"),
        (lambda pairs: pairs.pop(PREFIX + QUERY + UP), rf'has a tensor "{PREFIX}{QUERY}.lora_A.weight" and no'),
        (
            lambda pairs: pairs.update({PREFIX + "model.embed_tokens.lora_embedding_A": np.ones((4, 4), "<f4")}),
            "lora_embedding_A\"; those of the model's q_proj, k_proj",
        ),
        (
            lambda pairs: pairs.update({PREFIX + QUERY + UP: np.ones((128, RANK), "<f4")}),
            r"is \[128, 4\]; by rank and model it is \[256, 4\]",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_named(change: Callable[[Pairs], object], words: str, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    pairs = random_pairs(model)
    change(pairs)
    adapter = written_adapter(tmp_path / "adapter", {"r": RANK, "lora_alpha": 8}, pairs)
    with pytest.raises(OperatorError, match=words):
        open_adapter(adapter, open_safetensors(model).projections)


def test_pickled_and_absent_adapters_are_refused(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    adapter = tiny_adapter(tmp_path / "adapter", model)
    (adapter / WEIGHTS).rename(adapter / "adapter_model.bin")
    for folder, words in ((adapter, "adapter_model.bin: is a pickle"), (tmp_path / "none", "is not there")):
        with pytest.raises(OperatorError, match=words):
            open_adapter(folder, open_safetensors(model).projections)


async def test_who_asks_for_the_version_does_not_get_what_was_merged_unasked(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    async with opened_catalog(tmp_path) as catalog:
        version = await imported(catalog, model)
        stored = await merged(catalog, version, tiny_adapter(tmp_path / "adapter", model))
        digest = stored.artifact.digest
        plain = await artifact_for(catalog, "registry:tiny", "vllm")
        assert plain.artifact.recipe.builder == "import"
        assert await artifact_for(catalog, f"registry:tiny#{digest[:12]}", "vllm") == stored
        with pytest.raises(UnknownName, match="has 0 artifacts whose digest begins with 0123456789ab"):
            await artifact_for(catalog, "registry:tiny#0123456789ab", "vllm")
        with pytest.raises(UnknownName, match="nothing to judge"):
            await judge_version(catalog, version, await catalog.artifacts(version))
