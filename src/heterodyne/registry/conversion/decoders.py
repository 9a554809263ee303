"""A decoder in either form, opened and checked: its family, its shape, and that it has every tensor it should."""

from pathlib import Path

from msgspec import Struct

from heterodyne.registry.conversion.compressed_tensors import check_scales
from heterodyne.registry.families.catalogue import family_of_config, family_of_gguf
from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.families.family import LAYER, Family, check_tensors
from heterodyne.registry.gguf.opened import GgufFile
from heterodyne.registry.gguf.shape_fields import shape_of_fields
from heterodyne.registry.tensors.checkpoint import CONFIG, Checkpoint, open_checkpoint

HEAD = "output.weight"
LAYERS = LAYER.partition("{")[0]
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

    @property
    def projections(self) -> dict[str, tuple[int, ...]]:
        """The matrices of its layers by name, with their shapes."""
        lengths = self.shape.lengths()
        return {
            name: tuple(lengths[one] for one in rule.lengths)
            for name, rule in self.family.rules(self.shape).items()
            if len(rule.lengths) == 2 and name.startswith(LAYERS)
        }


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
    """The same of a folder; its projections may be of eight bits, with a scale beside each."""
    checkpoint, where = open_checkpoint(folder), str(folder)
    family, shape = family_of_config(str(folder / CONFIG), checkpoint.config)
    decoder = CheckpointDecoder(checkpoint, family, shape)
    scales = check_scales(where, checkpoint, decoder.projections)
    found = {name: checkpoint.place(name).shape for name in checkpoint.names if name not in scales}
    check_tensors(where, found, family, shape)
    return decoder
