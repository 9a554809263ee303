"""From a folder with a model in SafeTensors to the one file that llama.cpp loads, in any of its precisions."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from heterodyne.registry.conversion.decoders import ROPE_FACTORS, open_safetensors
from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.families.family import Family, TensorRule
from heterodyne.registry.gguf.head_bytes import GgufTensor, GgufValue, filled, gguf_head
from heterodyne.registry.gguf.precision import PRECISIONS, check_precision, kind_of
from heterodyne.registry.gguf.quantise import quantised
from heterodyne.registry.gguf.rotations import join_rotations
from heterodyne.registry.gguf.shape_fields import fields_of_shape, llama3_factors
from heterodyne.registry.tensors.checkpoint import CONFIG, Checkpoint
from heterodyne.registry.tensors.laid_out_file import MARK_EVERY_BYTES, WrittenFile, write_laid_out
from heterodyne.registry.tokenizers.convert import tokenizer_fields

QUANTIZATION_VERSION = 2  # of ggml
FACTORS = TensorRule("", ROPE_FACTORS, ())


def safetensors_to_gguf(
    folder: Path,
    target: Path,
    precision: str = "fp16",
    *,
    name: str | None = None,
    on_tensor: Callable[[int, int], None] = lambda done, of: None,
    mark_every_bytes: int = MARK_EVERY_BYTES,
) -> WrittenFile:
    """Write `target`; broken off, it goes on where it was. Raises what does not convert. `name` is the model's."""
    check_precision(precision)
    decoder = open_safetensors(folder)
    checkpoint, family, shape = decoder.checkpoint, decoder.family, decoder.shape
    rules = list(family.rules(shape).values())
    if shape.rope_scaling is not None and shape.rope_scaling.kind == "llama3":
        rules.append(FACTORS)
    tensors = [_tensor(rule, shape, precision) for rule in rules]
    head, sizes = gguf_head(_fields(folder, family, shape, precision, name or folder.name), tensors)

    def numbers(index: int) -> bytes:
        values = _values(checkpoint, rules[index], family, shape)
        return filled(quantised(values, tensors[index].kind))

    target.parent.mkdir(parents=True, exist_ok=True)
    return write_laid_out(
        target,
        head,
        sizes,
        numbers,
        on_tensor=lambda done: on_tensor(done, len(tensors)),
        mark_every_bytes=mark_every_bytes,
    )


def _fields(folder: Path, family: Family, shape: DecoderShape, precision: str, name: str) -> dict[str, GgufValue]:
    general: dict[str, GgufValue] = {
        "general.architecture": family.gguf,
        "general.name": name,
        "general.file_type": int(PRECISIONS[precision][2]),
        "general.quantization_version": QUANTIZATION_VERSION,
    }
    shaped = fields_of_shape(shape, family, str(folder / CONFIG))
    return general | shaped | tokenizer_fields(folder, shape.vocabulary)


def _tensor(rule: TensorRule, shape: DecoderShape, precision: str) -> GgufTensor:
    lengths = shape.lengths()
    sides = tuple(lengths[one] for one in rule.lengths) if rule is not FACTORS else (shape.head_dim // 2,)
    return GgufTensor(name=rule.gguf, shape=sides, kind=kind_of(rule.gguf, sides, precision, shape.layers))


def _values(checkpoint: Checkpoint, rule: TensorRule, family: Family, shape: DecoderShape) -> np.ndarray:
    if rule is FACTORS:
        assert shape.rope_scaling is not None
        return llama3_factors(shape.rope_scaling, shape)
    values = checkpoint.values(rule.name)
    if rule.is_rotated and family.rotates_neighbours:
        values = join_rotations(values, values.shape[0] // shape.head_dim)
    return values + np.float32(family.norm_shift) if rule.is_norm and family.norm_shift else values
