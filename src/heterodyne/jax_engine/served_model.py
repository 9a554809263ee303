"""What is served: a model's numbers, its text, its names and its bounds."""

from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import WeightsCorrupt
from heterodyne.jax_engine.programs import DecoderPrograms
from heterodyne.jax_engine.shapes import shape_named
from heterodyne.jax_engine.texts import ByteTexts, ModelTexts, TokenizerTexts
from heterodyne.jax_engine.weights import random_weights, weights_of
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.families.catalogue import family_of_config
from heterodyne.registry.families.family import check_tensors
from heterodyne.registry.tensors.checkpoint import CONFIG
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from heterodyne.registry.tensors.orbax_checkpoint import TREE, load_orbax

GENERATION = "generation_config.json"


class JaxModel(Struct, frozen=True, kw_only=True):
    """One, on the device; what is compiled for it stays with it."""

    programs: DecoderPrograms
    texts: ModelTexts
    ends: frozenset[int]  # tokens that end an answer


def model_of_folder(folder: Path, precision: str) -> JaxModel:
    """SafeTensors, or the registry's JAX checkpoint; raises what is missing."""
    if (folder / TREE).is_dir():
        config = _members(folder / CONFIG)
        family, shape = family_of_config(str(folder / CONFIG), config)
        arrays = load_orbax(folder / TREE)
        check_tensors(str(folder), {name: array.shape for name, array in arrays.items()}, family, shape)
        weights = weights_of(shape, arrays, precision)
    else:
        decoder = open_safetensors(folder)
        shape = decoder.shape
        weights = weights_of(shape, CheckpointValues(decoder.checkpoint), precision)
    told = _members(folder / GENERATION).get("eos_token_id") if (folder / GENERATION).is_file() else None
    return JaxModel(
        programs=DecoderPrograms(shape, weights), texts=TokenizerTexts(folder), ends=_ids(shape.eos) | _ids(told)
    )


def random_model(name: str, precision: str) -> JaxModel:
    """Noise of a known shape, for measuring: its answers end at their limit alone."""
    shape = shape_named(name)
    return JaxModel(
        programs=DecoderPrograms(shape, random_weights(shape, precision)), texts=ByteTexts(), ends=frozenset()
    )


def _ids(value: object) -> frozenset[int]:
    values = value if isinstance(value, list) else [value]
    return frozenset(one for one in values if isinstance(one, int))


def _members(path: Path) -> dict[str, object]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise WeightsCorrupt(f"{path}: {error}") from error
