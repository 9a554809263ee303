"""SafeTensors with a LoRA adapter merged into them: one model that every engine serves, at no cost for each request."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import SettingsInvalid, WeightsCorrupt
from heterodyne.registry.building.builder import Builder, BuildOrder, OnStep
from heterodyne.registry.building.cast import copy_beside, plain_config
from heterodyne.registry.conversion.decoders import CheckpointDecoder, open_safetensors
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.lora_adapter import LoraAdapter, adapter_sha256, open_adapter
from heterodyne.registry.tensors.number_formats import BY_PRECISION, from_float32

ADAPTER, ADAPTER_SHA256 = "adapter", "adapter_sha256"


def _merged(order: BuildOrder, on_step: OnStep) -> None:
    decoder, folder = open_safetensors(order.source), Path(order.settings[ADAPTER])
    adapter, dtype = open_adapter(folder, decoder.projections), BY_PRECISION[order.precision]
    order.target.mkdir(parents=True, exist_ok=True)
    tensors = [
        NewTensor(
            name=name,
            dtype=dtype,
            shape=decoder.checkpoint.place(name).shape,
            make=partial(_numbers, decoder, adapter, name, dtype),
        )
        for name in decoder.family.rules(decoder.shape)
    ]
    write_checkpoint(order.target, tensors, on_tensor=on_step)
    copy_beside(decoder.checkpoint, order.target, plain_config(decoder.checkpoint.config, order.precision))
    if adapter_sha256(folder) != order.settings[ADAPTER_SHA256]:
        raise WeightsCorrupt(f"{folder}: was changed while it was merged; build it again")


def _numbers(decoder: CheckpointDecoder, adapter: LoraAdapter, name: str, dtype: str) -> np.ndarray:
    values = decoder.checkpoint.values(name)
    return from_float32(adapter.merged(name, values) if name in adapter else values, dtype)


def _settings(given: Mapping[str, str]) -> dict[str, str]:
    """What the adapter is, and not where it lies: another adapter is another artifact."""
    if not given.get(ADAPTER):
        raise SettingsInvalid(f"{ADAPTER}: names no folder; that of a LoRA adapter is expected")
    return {ADAPTER_SHA256: adapter_sha256(Path(given[ADAPTER]))}


LORA = Builder(
    name="lora-merge",
    version=1,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.SAFETENSORS,
    precisions=tuple(BY_PRECISION),
    run=_merged,
    tools=("numpy",),
    settings=(ADAPTER,),
    is_other_model=True,
    recipe_settings=_settings,
)
