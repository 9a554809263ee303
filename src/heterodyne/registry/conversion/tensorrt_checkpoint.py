"""From a folder with a model in SafeTensors to the checkpoint that TensorRT-LLM compiles: Llama and Mistral models.

Weights of int8 leave here in 16 bits: TensorRT-LLM cuts them itself, into the order that the GPU's kernels read.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.conversion.decoders import CheckpointDecoder
from heterodyne.registry.families.catalogue import LLAMA
from heterodyne.registry.families.decoder_shape import config_of_shape
from heterodyne.registry.families.family import EMBEDDING, HEAD, LAYER
from heterodyne.registry.files import write_whole
from heterodyne.registry.tensors.checkpoint_writer import NewTensor
from heterodyne.registry.tensors.eight_bits import EIGHT_BITS
from heterodyne.registry.tensors.laid_out_file import write_laid_out
from heterodyne.registry.tensors.number_formats import BY_PRECISION, CONFIG_WORDS, from_float32
from heterodyne.registry.tensors.safetensors_head import safetensors_head

CONFIG, RANK = "config.json", "rank0.safetensors"
FP8 = EIGHT_BITS["fp8"]
ALGORITHMS = {"fp16": None, "bf16": None, "int8": "W8A16", "fp8": "FP8"}
ACTIVATIONS = {"int8": "fp16", "fp8": "fp16"}  # of precisions of weights alone
NORMS = {"input_layernorm": "input_layernorm", "post_layernorm": "post_attention_layernorm"}
# What is one matrix there, and those whose rows it has one below the other.
LINEAR = {
    "attention.qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "attention.dense": ("self_attn.o_proj",),
    "mlp.fc": ("mlp.gate_proj",),
    "mlp.gate": ("mlp.up_proj",),
    "mlp.proj": ("mlp.down_proj",),
}


def check_compiled(decoder: CheckpointDecoder) -> None:
    """Raise what is not written here."""
    where, shape = decoder.checkpoint.folder, decoder.shape
    if decoder.family is not LLAMA:
        known = ", ".join(LLAMA.architectures)
        raise WeightsUnavailable(f"{where}: a {decoder.family.name} model; {known} models are compiled by TensorRT-LLM")
    if shape.window_tokens is not None:
        raise WeightsUnavailable(
            f"{where}: looks back {shape.window_tokens} tokens; models without a window are compiled"
        )


def write_tensorrt_checkpoint(
    decoder: CheckpointDecoder,
    folder: Path,
    precision: str,
    peaks: Mapping[str, np.ndarray],
    *,
    on_tensor: Callable[[int, int], None] = lambda done, of: None,
) -> None:
    """Write both files; broken off, it goes on where it was. `peaks` are, of fp8, the largest inputs of projections."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = sorted(_tensors(decoder, precision, peaks), key=lambda one: one.name)
    head, sizes = safetensors_head([(one.name, one.dtype, one.shape) for one in tensors])
    write_laid_out(
        folder / RANK,
        head,
        sizes,
        lambda index: np.ascontiguousarray(tensors[index].make()).reshape(-1).view(np.uint8).data,
        on_tensor=lambda done: on_tensor(done, len(tensors)),
    )
    write_whole(folder / CONFIG, msgspec.json.format(msgspec.json.encode(_config(decoder, precision))) + b"\n")


def _config(decoder: CheckpointDecoder, precision: str) -> dict[str, object]:
    shape, word = decoder.shape, CONFIG_WORDS[ACTIVATIONS.get(precision, precision)]
    plain = config_of_shape(shape, LLAMA.architectures["llama"], LLAMA.activation, word)
    return {
        "architecture": LLAMA.architectures["llama"],
        "dtype": word,
        "logits_dtype": "float32",
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": shape.context_tokens,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.feed_forward,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_size": shape.head_dim,
        "hidden_act": LLAMA.activation,
        "norm_epsilon": shape.norm_epsilon,
        "position_embedding_type": "rope_gpt_neox",
        "rotary_base": shape.rope_theta,
        "rotary_scaling": plain.get("rope_scaling"),
        "mapping": {"world_size": 1, "tp_size": 1, "pp_size": 1},
        "quantization": {
            "quant_algo": ALGORITHMS[precision],
            "kv_cache_quant_algo": None,
            "exclude_modules": ["lm_head"],
        },
    }


def _tensors(decoder: CheckpointDecoder, precision: str, peaks: Mapping[str, np.ndarray]) -> list[NewTensor]:
    shape, dtype = decoder.shape, BY_PRECISION[ACTIVATIONS.get(precision, precision)]
    named: dict[str, tuple[str, ...]] = {
        "transformer.vocab_embedding.weight": (EMBEDDING,),
        "transformer.ln_f.weight": ("model.norm.weight",),
        "lm_head.weight": (EMBEDDING if shape.has_tied_embeddings else HEAD,),
    }
    tensors: list[NewTensor] = []
    for number in range(shape.layers):
        there, here = f"transformer.layers.{number}.", LAYER.format(number)
        named |= {f"{there}{norm}.weight": (f"{here}{source}.weight",) for norm, source in NORMS.items()}
        for module, parts in LINEAR.items():
            sources = tuple(f"{here}{part}.weight" for part in parts)
            if precision == "fp8":
                tensors += _fp8_tensors(decoder, there + module, sources, peaks)
            else:
                named[f"{there}{module}.weight"] = sources
    return tensors + [_plain_tensor(decoder, name, sources, dtype) for name, sources in named.items()]


def _plain_tensor(decoder: CheckpointDecoder, name: str, sources: tuple[str, ...], dtype: str) -> NewTensor:
    def make() -> np.ndarray:
        return from_float32(_stacked(decoder, sources), dtype)

    return NewTensor(name=name, dtype=dtype, shape=_shape(decoder, sources), make=make)


def _fp8_tensors(
    decoder: CheckpointDecoder, module: str, sources: tuple[str, ...], peaks: Mapping[str, np.ndarray]
) -> list[NewTensor]:
    """One scale for the whole matrix and one for all that is ever multiplied with it, as this format has them."""

    def scale() -> np.ndarray:
        largest = max(float(np.abs(decoder.checkpoint.values(name)).max()) for name in sources)
        return np.array([largest / FP8.largest or 1.0], "<f4")

    def numbers() -> np.ndarray:
        return FP8.encode(np.clip(_stacked(decoder, sources) / scale(), -FP8.largest, FP8.largest))

    input_scale = np.array([float(peaks[sources[0]]) / FP8.largest or 1.0], "<f4")
    return [
        NewTensor(name=module + ".weight", dtype=FP8.dtype, shape=_shape(decoder, sources), make=numbers),
        NewTensor(name=module + ".weights_scaling_factor", dtype="F32", shape=(1,), make=scale),
        NewTensor(
            name=module + ".activation_scaling_factor", dtype="F32", shape=(1,), make=partial(np.copy, input_scale)
        ),
    ]


def _shape(decoder: CheckpointDecoder, sources: tuple[str, ...]) -> tuple[int, ...]:
    shapes = [decoder.checkpoint.place(name).shape for name in sources]
    return (sum(shape[0] for shape in shapes), *shapes[0][1:])


def _stacked(decoder: CheckpointDecoder, sources: tuple[str, ...]) -> np.ndarray:
    return np.concatenate([decoder.checkpoint.values(name) for name in sources])
