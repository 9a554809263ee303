"""SafeTensors with projections of eight bits, whole or float, and a scale for each row: what vLLM loads as W8A8."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import SettingsInvalid, WeightsCorrupt
from heterodyne.registry.building.builder import Builder, BuildOrder, OnStep
from heterodyne.registry.building.calibration import input_mean_squares
from heterodyne.registry.building.cast import copy_beside
from heterodyne.registry.conversion.compressed_tensors import QUANTIZATION, quantization_config
from heterodyne.registry.conversion.decoders import CheckpointDecoder, open_safetensors
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.eight_bits import EIGHT_BITS, SCALE, EightBits, quantised_rows

CALIBRATION = "calibration"
NONE, TEXTS = "none", "texts"

Quantise = Callable[[str], tuple[np.ndarray, np.ndarray]]


def _quantised(order: BuildOrder, on_step: OnStep) -> None:
    decoder, kind = open_safetensors(order.source), EIGHT_BITS[order.precision]
    checkpoint = decoder.checkpoint
    importances = input_mean_squares(decoder) if order.settings[CALIBRATION] == TEXTS else {}
    order.target.mkdir(parents=True, exist_ok=True)
    write_checkpoint(order.target, _tensors(decoder, kind, importances), on_tensor=on_step)
    copy_beside(checkpoint, order.target, checkpoint.config | {QUANTIZATION: quantization_config(order.precision)})


def _tensors(decoder: CheckpointDecoder, kind: EightBits, importances: Mapping[str, np.ndarray]) -> list[NewTensor]:
    checkpoint, projections = decoder.checkpoint, decoder.projections

    @lru_cache(maxsize=1)  # a weight and its scales are written one after the other
    def quantise(name: str) -> tuple[np.ndarray, np.ndarray]:
        values = checkpoint.values(name)
        if not np.isfinite(values).all():
            raise WeightsCorrupt(f'{checkpoint.folder}: the tensor "{name}" has values that are no numbers')
        return quantised_rows(values, kind, importances.get(name))

    tensors = []
    for name in checkpoint.names:
        place = checkpoint.place(name)
        if name in projections:
            scale = NewTensor(
                name=name + SCALE, dtype="F32", shape=(place.shape[0], 1), make=partial(_scales, quantise, name)
            )
            numbers = NewTensor(name=name, dtype=kind.dtype, shape=place.shape, make=partial(_numbers, quantise, name))
            tensors += [numbers, scale]
        elif name.removesuffix(SCALE) not in projections:
            make = partial(checkpoint.stored, name)
            tensors.append(NewTensor(name=name, dtype=place.dtype, shape=place.shape, make=make))
    return tensors


def _numbers(quantise: Quantise, name: str) -> np.ndarray:
    return quantise(name)[0]


def _scales(quantise: Quantise, name: str) -> np.ndarray:
    return quantise(name)[1]


def _settings(given: Mapping[str, str]) -> dict[str, str]:
    calibration = given.get(CALIBRATION, NONE)
    if calibration not in (NONE, TEXTS):
        raise SettingsInvalid(f'{CALIBRATION}: "{calibration}" is not known; {NONE} and {TEXTS} are')
    return {CALIBRATION: calibration}


COMPRESSED_TENSORS = Builder(
    name="compressed-tensors",
    version=1,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.SAFETENSORS,
    precisions=tuple(EIGHT_BITS),
    run=_quantised,
    tools=("numpy",),
    settings=(CALIBRATION,),
    recipe_settings=_settings,
)
