"""A LoRA adapter as PEFT saves it: for each projection two thin matrices, whose product is added to its weight."""

import math
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.files import sha256_of
from heterodyne.registry.tensors.checkpoint import Checkpoint
from heterodyne.registry.tensors.number_formats import PRECISIONS
from heterodyne.registry.tensors.safetensors_head import read_safetensors_head

CONFIG, WEIGHTS, PICKLED = "adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"
PREFIX = "base_model.model."  # before the names of the model's own modules
DOWN, UP = ".lora_A.weight", ".lora_B.weight"  # [rank, columns] and [rows, rank]
BLOCK_NUMBERS = 1 << 22  # of a weight that are worked on at once


class LoraConfig(Struct, frozen=True):
    """The members of `adapter_config.json` that change what is added."""

    r: int
    lora_alpha: float
    peft_type: str = "LORA"
    target_modules: list[str] | str | None = None
    use_rslora: bool = False
    use_dora: bool = False
    fan_in_fan_out: bool = False
    bias: str = "none"
    modules_to_save: list[str] | None = None
    rank_pattern: dict[str, int] = {}
    alpha_pattern: dict[str, float] = {}

    @property
    def factor(self) -> float:
        """What the product is multiplied by."""
        return self.lora_alpha / (math.sqrt(self.r) if self.use_rslora else self.r)

    def unmerged(self) -> str | None:
        """What it asks for that is no sum of matrices; None: nothing."""
        asked = {
            f"peft_type {self.peft_type}": self.peft_type != "LORA",
            "use_dora": self.use_dora,
            "fan_in_fan_out": self.fan_in_fan_out,
            f"bias {self.bias}": self.bias != "none",
            f"modules_to_save {', '.join(self.modules_to_save or ())}": bool(self.modules_to_save),
            "rank_pattern": bool(self.rank_pattern),
            "alpha_pattern": bool(self.alpha_pattern),
        }
        return next((name for name, is_asked in asked.items() if is_asked), None)


class LoraAdapter:
    """One, opened and checked against the projections of a model."""

    def __init__(self, tensors: Checkpoint, factor: float) -> None:
        self._tensors, self._factor = tensors, factor

    def __contains__(self, name: str) -> bool:
        return _module(name) + DOWN in self._tensors

    def merged(self, name: str, values: np.ndarray) -> np.ndarray:
        """The weight with what the adapter adds; summed in 64 bits, of which the last, by machine, are rounded off."""
        down, up = (self._tensors.values(_module(name) + side).astype(np.float64) for side in (DOWN, UP))
        made = np.empty(values.shape, np.float32)
        step = max(1, BLOCK_NUMBERS // values.shape[1])
        for first in range(0, len(values), step):
            block = slice(first, first + step)
            made[block] = values[block] + self._factor * (up[block] @ down)
        return made


def adapter_sha256(folder: Path) -> str:
    """One hash for both files; raises what is missing."""
    return sha256_of(*_files(folder))


def open_adapter(folder: Path, projections: Mapping[str, tuple[int, ...]]) -> LoraAdapter:
    """Raises what cannot be merged, with the file and the tensor. `projections` are the model's, with their shapes."""
    config_path, weights_path = _files(folder)
    try:
        config = msgspec.json.decode(config_path.read_bytes(), type=LoraConfig)
    except msgspec.MsgspecError as error:
        raise WeightsCorrupt(f"{config_path}: {error}") from error
    if (asked := config.unmerged()) is not None:
        raise WeightsUnavailable(f"{config_path}: asks for {asked}, which is not merged; plain LoRA of projections is")
    if config.r < 1:
        raise WeightsCorrupt(f"{config_path}: r is {config.r}; a rank of 1 or more is expected")
    places = read_safetensors_head(weights_path)
    tensors = Checkpoint(folder, {}, {name: (weights_path, place) for name, place in places.items()})
    _check_tensors(weights_path, tensors, config.r, projections)
    _check_targets(config_path, config, tensors, projections)
    return LoraAdapter(tensors, config.factor)


def _files(folder: Path) -> tuple[Path, Path]:
    config, weights = folder / CONFIG, folder / WEIGHTS
    if not weights.is_file() and (folder / PICKLED).is_file():
        raise WeightsUnavailable(
            f"{folder / PICKLED}: is a pickle, which runs code when it is loaded; save the adapter as SafeTensors "
            f"({WEIGHTS})"
        )
    for path in (config, weights):
        if not path.is_file():
            raise WeightsUnavailable(f"{path}: is not there; a folder that PEFT has saved is expected")
    return config, weights


def _module(name: str) -> str:
    return PREFIX + name.removesuffix(".weight")


def _check_tensors(path: Path, tensors: Checkpoint, rank: int, projections: Mapping[str, tuple[int, ...]]) -> None:
    expected: dict[str, tuple[int, ...]] = {}
    for name, (rows, columns) in projections.items():
        expected |= {_module(name) + DOWN: (rank, columns), _module(name) + UP: (rows, rank)}
    for name in tensors.names:
        place = tensors.place(name)
        if name not in expected:
            raise WeightsUnavailable(
                f'{path}: has a tensor "{name}"; those of the model\'s {", ".join(_kinds(projections))} are merged'
            )
        if place.shape != expected[name]:
            raise WeightsCorrupt(
                f'{path}: the tensor "{name}" is {list(place.shape)}; by rank and model it is {list(expected[name])}'
            )
        if place.dtype not in PRECISIONS:
            raise WeightsUnavailable(
                f'{path}: the tensor "{name}" is {place.dtype}; {", ".join(PRECISIONS)} are merged'
            )
        other = name.removesuffix(DOWN) + UP if name.endswith(DOWN) else name.removesuffix(UP) + DOWN
        if other not in tensors:
            raise WeightsCorrupt(f'{path}: has a tensor "{name}" and no "{other}"')
    if not tensors.names:
        raise WeightsCorrupt(f"{path}: has no tensors")


def _check_targets(
    path: Path, config: LoraConfig, tensors: Checkpoint, projections: Mapping[str, tuple[int, ...]]
) -> None:
    """A module that is named and not there would be merged by nobody, and missed by nobody. Patterns are not read."""
    if not isinstance(config.target_modules, list):
        return
    modules = [name.removesuffix(".weight") for name in projections]
    adapted = [name for name in modules if PREFIX + name + DOWN in tensors]
    for target in config.target_modules:
        if not any(_names(target, name) for name in modules):
            raise WeightsUnavailable(
                f'{path}: target_modules has "{target}"; the model has {", ".join(_kinds(projections))}'
            )
        if not any(_names(target, name) for name in adapted):
            raise WeightsCorrupt(f'{path}: target_modules has "{target}", of which {WEIGHTS} has no tensor')


def _names(target: str, module: str) -> bool:
    return module == target or module.endswith(f".{target}")


def _kinds(projections: Mapping[str, tuple[int, ...]]) -> list[str]:
    return list(dict.fromkeys(name.removesuffix(".weight").rpartition(".")[2] for name in projections))
