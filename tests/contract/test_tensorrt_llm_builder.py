"""An engine is compiled by the vendor's program, on the GPU it is for; whatever goes wrong there is said."""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.domain.errors import OperatorError, SettingsInvalid
from heterodyne.physics.catalogue import accelerators
from heterodyne.registry.building.nvidia_gpu import NAMES, NvidiaGpu
from heterodyne.registry.catalog.build import BuildRequest, build_artifact, staging_folders
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.conversion.tensorrt_checkpoint import RANK, write_tensorrt_checkpoint
from heterodyne.registry.tensors.checkpoint import Checkpoint
from heterodyne.registry.tensors.eight_bits import EIGHT_BITS
from heterodyne.registry.tensors.number_formats import to_float32
from heterodyne.registry.tensors.safetensors_head import read_safetensors_head
from tests.support.catalogs import opened_catalog
from tests.support.scripted_trtllm import scripted_tools
from tests.support.tiny_models import tiny_model

H100 = "h100-sxm"
LAYER = "transformer.layers.1."


async def compiled(
    catalog: Catalog, model: Path, precision: str = "fp16", hardware: str = H100, **settings: str
) -> StoredArtifact:
    version, _ = await import_version(catalog, read_reference("tiny"), model, f"file:{model}")
    request = BuildRequest(
        version=version,
        format=WeightFormat.TENSORRT_LLM,
        precision=precision,
        hardware=hardware,
        settings=settings,
    )
    return (await build_artifact(catalog, request))[0]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "model")


@pytest.mark.parametrize(
    ("precision", "dtype", "algorithm"),
    [("fp16", "F16", None), ("bf16", "BF16", None), ("int8", "F16", "W8A16"), ("fp8", "F8_E4M3", "FP8")],
)
async def test_an_engine_comes_with_what_it_was_made_by(
    *, precision: str, dtype: str, algorithm: str | None, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", scripted_tools(tmp_path / "bin"))
    async with opened_catalog(tmp_path) as catalog:
        stored = await compiled(catalog, model, precision, max_batch_size="8")
        folder = await catalog.local(stored)
        assert staging_folders(catalog) == []
    assert (stored.artifact.hardware, stored.artifact.name) == (H100, f"tiny@v1 tensorrt-llm {precision} h100-sxm")
    assert {"rank0.engine", "config.json", "manifest.json", "tokenizer.json", "tokenizer_config.json"} == {
        path.name for path in folder.iterdir()
    }
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    assert manifest["versions"] == {"tensorrt_llm": "1.2.0", "driver": "570.86.15"}
    assert (manifest["gpu"], manifest["hardware"]) == ("NVIDIA H100 80GB HBM3", H100)
    assert manifest["command"][:5] == ["trtllm-build", "--checkpoint_dir", "CHECKPOINT", "--output_dir", "ENGINE"]
    said = json.loads((folder / "config.json").read_text())
    assert said["build_config"]["--max_batch_size"] == "8"
    assert said["pretrained_config"]["quantization"]["quant_algo"] == algorithm
    assert said["tensors"][LAYER + "attention.qkv.weight"]["dtype"] == dtype
    assert said["tensors"][LAYER + "attention.qkv.weight"]["shape"] == [512, 256]


@pytest.mark.parametrize("members", [{}, {"tie_word_embeddings": True}])
def test_the_checkpoint_is_the_model_in_the_vendors_names(members: dict[str, Any], tmp_path: Path) -> None:
    decoder = open_safetensors(tiny_model(tmp_path / "model", **members))
    source = decoder.checkpoint
    write_tensorrt_checkpoint(decoder, tmp_path / "out", "fp16", {})
    path = tmp_path / "out" / RANK
    places = read_safetensors_head(path)
    made = Checkpoint(tmp_path / "out", {}, {name: (path, place) for name, place in places.items()})
    expected = {
        "transformer.vocab_embedding.weight": source.values("model.embed_tokens.weight"),
        "transformer.ln_f.weight": source.values("model.norm.weight"),
        "lm_head.weight": source.values("model.embed_tokens.weight" if members else "lm_head.weight"),
    }
    for number in range(2):
        there, here = f"transformer.layers.{number}.", f"model.layers.{number}."
        queries, keys, values = (source.values(f"{here}self_attn.{name}_proj.weight") for name in "qkv")
        expected[there + "attention.qkv.weight"] = np.concatenate((queries, keys, values))
        for name, other in (
            ("attention.dense", "self_attn.o_proj"),
            ("mlp.fc", "mlp.gate_proj"),  # the half that is activated
            ("mlp.gate", "mlp.up_proj"),
            ("mlp.proj", "mlp.down_proj"),
            ("input_layernorm", "input_layernorm"),
            ("post_layernorm", "post_attention_layernorm"),
        ):
            expected[f"{there}{name}.weight"] = source.values(f"{here}{other}.weight")
    assert set(made.names) == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(made.values(name), values, rtol=1e-3, atol=1e-6)


def test_fp8_has_one_scale_for_a_matrix_and_one_for_its_inputs(model: Path, tmp_path: Path) -> None:
    decoder = open_safetensors(model)
    peaks = dict.fromkeys(decoder.projections, np.float32(8.96))
    write_tensorrt_checkpoint(decoder, tmp_path / "out", "fp8", peaks)
    path = tmp_path / "out" / RANK
    places = read_safetensors_head(path)
    made = Checkpoint(tmp_path / "out", {}, {name: (path, place) for name, place in places.items()})
    scale = made.values(LAYER + "mlp.proj.weights_scaling_factor")
    values = EIGHT_BITS["fp8"].decode(np.array(made.stored(LAYER + "mlp.proj.weight"))) * scale
    expected = decoder.checkpoint.values("model.layers.1.mlp.down_proj.weight")
    # Three bits of fraction: a sixteenth of a number, or half of the smallest step.
    assert (np.abs(values - expected) <= np.maximum(np.abs(expected) / 16, scale * 2**-10) * 1.001).all()
    np.testing.assert_allclose(made.values(LAYER + "mlp.proj.activation_scaling_factor"), [0.02], rtol=1e-6)
    assert made.place("lm_head.weight").dtype == "F16"
    assert to_float32(made.stored("lm_head.weight"), "F16").any()


@pytest.mark.parametrize(
    ("tools", "asked", "words"),
    [
        ({"mode": None}, {}, "trtllm-build is not on PATH; install TensorRT-LLM with `pip install tensorrt-llm"),
        ({"gpu": None}, {}, "nvidia-smi is not on PATH: no NVIDIA GPU is here"),
        ({"gpu": "NVIDIA L4"}, {}, "for h100-sxm is compiled on one; the GPU here is NVIDIA L4"),
        ({"mode": "fail"}, {}, r"trtllm-build ended with 1; it said: .*Out of memory: 80 GiB"),
        ({"mode": "nothing"}, {}, "rank0.engine: trtllm-build ended well and did not write it"),
        ({}, {"hardware": "any"}, "compiled for one kind of GPU; name it, as in --hardware h100-sxm"),
        ({}, {"hardware": "mi300x"}, "mi300x: TensorRT-LLM does not run on it"),
        ({}, {"hardware": "a100-80gb", "precision": "fp8"}, "a100-80gb: has no fp8; bf16, fp16, int8 are compiled"),
        ({}, {"max_batch_size": "many"}, 'max_batch_size: "many" is no whole number above zero'),
        ({}, {"max_batch_size": "0"}, 'max_batch_size: "0" is no whole number above zero'),
    ],
)
async def test_what_goes_wrong_is_said(
    *,
    tools: dict[str, Any],
    asked: dict[str, str],
    words: str,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", scripted_tools(tmp_path / "bin", **tools))
    async with opened_catalog(tmp_path) as catalog:
        with pytest.raises(OperatorError, match=f"(?s){words}"):
            await compiled(catalog, model, **asked)


async def test_a_compiler_that_hangs_is_ended_with_all_it_started(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", scripted_tools(tmp_path / "bin", mode="hang"))
    async with opened_catalog(tmp_path) as catalog:
        with pytest.raises(OperatorError, match="trtllm-build was not done after 3 s and was ended"):
            await compiled(catalog, model, timeout_s="3")
    for id in (tmp_path / "bin" / "hanging").read_text().split():
        assert _is_gone(int(id))


async def test_an_engine_that_failed_once_is_made_when_it_can_be(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_catalog(tmp_path) as catalog:
        monkeypatch.setenv("PATH", scripted_tools(tmp_path / "bad", mode="fail"))
        with pytest.raises(OperatorError):
            await compiled(catalog, model)
        monkeypatch.setenv("PATH", scripted_tools(tmp_path / "good"))
        stored = await compiled(catalog, model)
        assert await compiled(catalog, model, timeout_s="60") == stored, "how long is waited is no part of the recipe"
        assert (await compiled(catalog, model, max_seq_len="512")).artifact.digest != stored.artifact.digest


async def test_models_and_formats_that_are_not_compiled_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", scripted_tools(tmp_path / "bin"))
    async with opened_catalog(tmp_path) as catalog:
        with pytest.raises(OperatorError, match="a gemma model; llama, mistral models are compiled"):
            await compiled(catalog, tiny_model(tmp_path / "gemma", "gemma"))
        with pytest.raises(OperatorError, match="looks back 8 tokens; models without a window"):
            await compiled(catalog, tiny_model(tmp_path / "mistral", "mistral", sliding_window=8))
        version = await catalog.version("tiny")
        request = BuildRequest(version=version, format=WeightFormat.GGUF, precision="q8_0", hardware=H100)
        with pytest.raises(SettingsInvalid, match="gguf is the same on all hardware; leave --hardware h100-sxm out"):
            await build_artifact(catalog, request)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA H200", "h200-sxm"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA GB200", "gb200"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie"),
        ("NVIDIA A100-PCIE-40GB", "a100-40gb"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"),
    ],
)
def test_what_the_driver_says_is_one_chip_of_the_catalogue(said: str, name: str) -> None:
    gpu = NvidiaGpu(name=said, driver="1")
    assert [chip.name for chip in accelerators().values() if gpu.is_of(chip)] == [name]
    assert NAMES.keys() <= accelerators().keys()


def _is_gone(process_id: int) -> bool:
    until_s = time.monotonic() + 10
    while time.monotonic() < until_s:
        try:
            os.kill(process_id, 0)
            if Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False
