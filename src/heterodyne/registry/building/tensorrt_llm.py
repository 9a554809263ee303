"""A TensorRT-LLM engine for one kind of NVIDIA GPU, compiled by the vendor's `trtllm-build` on such a GPU.

The vendor's compiler measures kernels and takes the fastest, so two builds of one recipe may differ in their bytes; the
manifest says by which command, which versions and on which GPU an engine was made.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import SettingsInvalid, WeightsCorrupt, WeightsUnavailable
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.precision import Precision
from heterodyne.registry.building.builder import Builder, BuildOrder, OnStep
from heterodyne.registry.building.calibration import input_peaks
from heterodyne.registry.building.nvidia_gpu import NvidiaGpu, gpu_here
from heterodyne.registry.building.tool_run import run_tool
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.conversion.tensorrt_checkpoint import ALGORITHMS, check_compiled, write_tensorrt_checkpoint
from heterodyne.registry.files import write_whole

TOOL = "trtllm-build"
INSTALL = "pip install tensorrt-llm"
ENGINE, ENGINE_CONFIG, MANIFEST = "rank0.engine", "config.json", "manifest.json"
TOKENIZER = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "chat_template*")
SIZES = {"max_batch_size": 64, "max_input_len": 2048, "max_seq_len": 4096}  # and what they are where nothing is said
TIMEOUT, TIMEOUT_S = "timeout_s", 4 * 3600


def _compiled(order: BuildOrder, on_step: OnStep) -> None:
    tool, gpu = _tool(), _gpu(order)
    decoder = open_safetensors(order.source)
    check_compiled(decoder)
    # Beside the build and not in it: the checkpoint is no part of what is made.
    checkpoint = order.target.with_name(order.target.name + ".checkpoint")
    peaks = input_peaks(decoder) if order.precision == "fp8" else {}
    write_tensorrt_checkpoint(decoder, checkpoint, order.precision, peaks, on_tensor=on_step)
    for left in (ENGINE, ENGINE_CONFIG):  # of an attempt before, which the tool would not go on with
        (order.target / left).unlink(missing_ok=True)
    options = [word for name in SIZES for word in (f"--{name}", order.settings[name])]
    command = [TOOL, "--checkpoint_dir", "CHECKPOINT", "--output_dir", "ENGINE", "--workers", "1", *options]
    places = {TOOL: tool, "CHECKPOINT": str(checkpoint), "ENGINE": str(order.target)}
    run_tool([places.get(word, word) for word in command], timeout_s=float(order.settings.get(TIMEOUT, TIMEOUT_S)))
    manifest = {
        "command": command,
        "versions": _versions(order.target, gpu),
        "gpu": gpu.name,
        "hardware": order.hardware,
    }
    write_whole(order.target / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    for path in sorted({path for pattern in TOKENIZER for path in order.source.glob(pattern)}):
        write_whole(order.target / path.name, path.read_bytes())
    shutil.rmtree(checkpoint)


def _tool() -> str:
    found = shutil.which(TOOL)
    if found is None:
        raise WeightsUnavailable(f"{TOOL} is not on PATH; install TensorRT-LLM with `{INSTALL}`")
    return found


def _gpu(order: BuildOrder) -> NvidiaGpu:
    """The GPU that is here, which has to be the one that is asked for: an engine runs on what it was compiled on."""
    chip = accelerator(order.hardware)
    if chip.vendor != "nvidia" or "tensorrt-llm" not in chip.engines:
        raise SettingsInvalid(f"{chip.name}: TensorRT-LLM does not run on it")
    if Precision(order.precision) not in chip.precisions:
        listed = ", ".join(one for one in chip.precisions if one in ALGORITHMS)
        raise SettingsInvalid(f"{chip.name}: has no {order.precision}; {listed} are compiled for it")
    gpu = gpu_here()
    if not gpu.is_of(chip):
        raise WeightsUnavailable(f"an engine for {chip.name} is compiled on one; the GPU here is {gpu.name}")
    return gpu


def _versions(folder: Path, gpu: NvidiaGpu) -> dict[str, str]:
    """As the engine's own config has them."""
    if not (folder / ENGINE).is_file():
        raise WeightsCorrupt(f"{folder / ENGINE}: {TOOL} ended well and did not write it")
    try:
        config = msgspec.json.decode((folder / ENGINE_CONFIG).read_bytes(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise WeightsCorrupt(f"{folder / ENGINE_CONFIG}: {TOOL} ended well and did not write it: {error}") from error
    return {"tensorrt_llm": str(config.get("version", "not said")), "driver": gpu.driver}


def _settings(given: Mapping[str, str]) -> dict[str, str]:
    """The sizes, each as a whole number; how long is waited for is no part of what is made."""
    for name, value in given.items():
        if not value.isdecimal() or int(value) == 0:
            raise SettingsInvalid(f'{name}: "{value}" is no whole number above zero')
    return {name: str(int(given.get(name, usual))) for name, usual in SIZES.items()}


TENSORRT_LLM = Builder(
    name="tensorrt-llm",
    version=1,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.TENSORRT_LLM,
    precisions=tuple(ALGORITHMS),
    run=_compiled,
    tools=("numpy", "tensorrt-llm", "tensorrt"),
    settings=(*SIZES, TIMEOUT),
    recipe_settings=_settings,
    is_for_one_chip=True,
)
