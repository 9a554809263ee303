"""From a GGUF to the folder that vLLM, SGLang and transformers load: SafeTensors, config, tokenizer.

Quantised weights are widened to 16 or 32 bits, so the folder answers as the GGUF does and not as the model that the
GGUF was made from.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.conversion.decoders import open_gguf
from heterodyne.registry.families.decoder_shape import DecoderShape, config_of_shape
from heterodyne.registry.families.family import Family, TensorRule
from heterodyne.registry.files import write_whole
from heterodyne.registry.gguf.opened import GgufFile
from heterodyne.registry.gguf.rotations import split_rotations
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.number_formats import BY_PRECISION, CONFIG_WORDS, from_float32
from heterodyne.registry.tokenizers.convert import tokenizer_files


def gguf_to_safetensors(
    path: Path, folder: Path, precision: str = "fp16", on_tensor: Callable[[int, int], None] = lambda done, of: None
) -> None:
    """Write the files into `folder`; broken off, it goes on where it was. Raises what does not convert."""
    if precision not in BY_PRECISION:
        raise WeightsUnavailable(f'SafeTensors are written as {", ".join(BY_PRECISION)}, not as "{precision}"')
    decoder = open_gguf(path)
    file, family, shape = decoder.file, decoder.family, decoder.shape
    architecture = family.architectures[shape.model_type]
    config = config_of_shape(shape, architecture, family.activation, CONFIG_WORDS[precision])
    files = {"config.json": msgspec.json.format(msgspec.json.encode(config)) + b"\n"}
    files |= tokenizer_files(path.name, file.fields, shape.context_tokens)
    folder.mkdir(parents=True, exist_ok=True)
    dtype = BY_PRECISION[precision]
    tensors = [
        NewTensor(
            name=rule.name,
            dtype=dtype,
            shape=file.shape(rule.gguf),
            make=partial(_numbers, file, rule, family, shape, dtype),
        )
        for rule in family.rules(shape).values()
    ]
    write_checkpoint(folder, tensors, on_tensor=on_tensor)
    for name, content in files.items():
        write_whole(folder / name, content)


def _numbers(file: GgufFile, rule: TensorRule, family: Family, shape: DecoderShape, dtype: str) -> np.ndarray:
    values = file.values(rule.gguf)
    if rule.is_rotated and family.rotates_neighbours:
        values = split_rotations(values, values.shape[0] // shape.head_dim)
    if rule.is_norm and family.norm_shift:
        values = values - family.norm_shift
    return from_float32(values, dtype)
