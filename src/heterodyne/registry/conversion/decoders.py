"""A decoder in either form, opened and checked: its family, its shape, and that it has every tensor it should."""

from pathlib import Path

from msgspec import Struct

from heterodyne.registry.families.catalogue import family_of_config, family_of_gguf
from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.families.family import Family, check_tensors
from heterodyne.registry.gguf.opened import GgufFile
from heterodyne.registry.gguf.shape_fields import shape_of_fields
from heterodyne.registry.tensors.checkpoint import CONFIG, Checkpoint, open_checkpoint

HEAD = "output.weight"
ROPE_FACTORS = "rope_freqs.weight"  # of stretched positions, which SafeTensors has as numbers of its config


class GgufDecoder(Struct, frozen=True):
    """One in a GGUF."""

    file: GgufFile
    family: Family
    shape: DecoderShape


class CheckpointDecoder(Struct, frozen=True):
    """One in SafeTensors."""

    checkpoint: Checkpoint
    family: Family
    shape: DecoderShape


def open_gguf(path: Path) -> GgufDecoder:
    """Raises what is not known, missing or of another shape, with the file and the tensor."""
    file, where = GgufFile(path), str(path)
    family = family_of_gguf(where, file.fields.get("general.architecture"))
    factors = file.values(ROPE_FACTORS) if file.has(ROPE_FACTORS) else None
    shape = shape_of_fields(file.fields, family, where, has_head=file.has(HEAD), factors=factors)
    names = {rule.gguf: rule.name for rule in family.rules(shape).values()}
    found = {names.get(name, name): file.shape(name) for name in file.names if name != ROPE_FACTORS}
    check_tensors(where, found, family, shape)
    return GgufDecoder(file, family, shape)


def open_safetensors(folder: Path) -> CheckpointDecoder:
    """The same of a folder."""
    checkpoint = open_checkpoint(folder)
    family, shape = family_of_config(str(folder / CONFIG), checkpoint.config)
    found = {name: checkpoint.place(name).shape for name in checkpoint.names}
    check_tensors(str(folder), found, family, shape)
    return CheckpointDecoder(checkpoint, family, shape)
