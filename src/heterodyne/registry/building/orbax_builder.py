"""SafeTensors to an Orbax checkpoint, which JAX programs load on TPUs and elsewhere."""

import numpy as np

from heterodyne.domain.artifact import WeightFormat
from heterodyne.registry.building.builder import Builder, BuildOrder, OnStep
from heterodyne.registry.building.cast import copy_beside, plain_config
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.tensors.checkpoint import Checkpoint
from heterodyne.registry.tensors.number_formats import BY_PRECISION, from_float32
from heterodyne.registry.tensors.orbax_checkpoint import TREE, bfloat16, save_orbax

PRECISIONS = ("bf16", "fp32")


def _to_orbax(order: BuildOrder, on_step: OnStep) -> None:
    """All tensors are in memory at once, as Orbax takes them."""
    decoder = open_safetensors(order.source)
    names = list(decoder.family.rules(decoder.shape))
    arrays: dict[str, np.ndarray] = {}
    for done, name in enumerate(names, start=1):
        arrays[name] = _array(decoder.checkpoint, name, order.precision)
        on_step(done, len(names) + 1)
    save_orbax(order.target / TREE, arrays)
    copy_beside(decoder.checkpoint, order.target, plain_config(decoder.checkpoint.config, order.precision))
    on_step(len(names) + 1, len(names) + 1)


def _array(checkpoint: Checkpoint, name: str, precision: str) -> np.ndarray:
    numbers = from_float32(checkpoint.values(name), BY_PRECISION[precision])
    return bfloat16(numbers) if precision == "bf16" else numbers


TO_ORBAX = Builder(
    name="safetensors-to-orbax",
    version=1,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.ORBAX,
    precisions=PRECISIONS,
    run=_to_orbax,
    tools=("numpy", "jax", "orbax-checkpoint", "tensorstore"),
)
