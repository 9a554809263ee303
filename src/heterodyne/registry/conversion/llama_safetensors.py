"""Convert a Llama-family GGUF to the folder that vLLM, SGLang and transformers load: SafeTensors, config, tokenizer.

The weights are dequantised to 16 bits, so the folder answers as the GGUF does and not as the model it was made from.
"""

import shutil
from pathlib import Path

import gguf
import msgspec
import numpy as np
from safetensors.numpy import save_file

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.conversion.llama_tokenizer import tokenizer_files

ARCHITECTURE = "llama"
HEAD = "output.weight"  # absent when the embedding serves as the head
NAMES = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    HEAD: "lm_head.weight",
}
LAYER_NAMES = {
    "attn_norm.weight": "input_layernorm.weight",
    "attn_q.weight": "self_attn.q_proj.weight",
    "attn_k.weight": "self_attn.k_proj.weight",
    "attn_v.weight": "self_attn.v_proj.weight",
    "attn_output.weight": "self_attn.o_proj.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
    "ffn_gate.weight": "mlp.gate_proj.weight",
    "ffn_up.weight": "mlp.up_proj.weight",
    "ffn_down.weight": "mlp.down_proj.weight",
}

Fields = dict[str, object]


def convert(path: Path, folder: Path) -> None:
    """Write `folder` from the GGUF at `path`, through memory; it appears complete or not at all."""
    if folder.exists():
        raise WeightsUnavailable(f"weights: {folder} is there already; name a folder that is not")
    reader = _open(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    if fields.get("general.architecture") != ARCHITECTURE:
        raise WeightsUnavailable(
            f"weights: {path.name} is of the {fields.get('general.architecture')} family, not llama"
        )
    try:
        config = _config(path, fields, has_head=any(tensor.name == HEAD for tensor in reader.tensors))
        files = {"config.json": msgspec.json.format(msgspec.json.encode(config)), **tokenizer_files(path.name, fields)}
    except KeyError as error:
        raise WeightsCorrupt(f"weights: {path.name} has no {error.args[0]}") from error
    tensors = dict(_tensor(path, tensor, config) for tensor in reader.tensors)
    arriving = folder.with_name(folder.name + ".part")
    shutil.rmtree(arriving, ignore_errors=True)
    arriving.mkdir(parents=True)
    save_file(tensors, arriving / "model.safetensors", metadata={"format": "pt"})
    for name, content in files.items():
        (arriving / name).write_bytes(content)
    arriving.replace(folder)


def split_rotations(weights: np.ndarray, heads: int) -> np.ndarray:
    """llama.cpp rotates neighbours, the others a head's first half with its second: put the rows where they look."""
    rows, columns = weights.shape
    pairs = weights.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def _open(path: Path) -> gguf.GGUFReader:
    try:
        return gguf.GGUFReader(path)
    except OSError as error:
        raise WeightsUnavailable(f"weights: cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, IndexError) as error:
        raise WeightsCorrupt(f"weights: {path} is not a readable GGUF file: {error}") from error


def _config(path: Path, fields: Fields, *, has_head: bool) -> dict[str, object]:
    """The members of `config.json`; the position base is there twice, for readers before and after transformers 5."""
    shape = {name.removeprefix("llama."): value for name, value in fields.items() if name.startswith("llama.")}
    if shape.get("expert_count") or "rope.scaling.type" in shape:
        raise WeightsUnavailable(f"weights: {path.name} has experts or stretched positions; plain Llamas convert")
    heads, hidden = _whole(shape, "attention.head_count"), _whole(shape, "embedding_length")
    base = _real(shape.get("rope.freq_base", 10_000.0))
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float16",
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": _whole(shape, "feed_forward_length"),
        "num_hidden_layers": _whole(shape, "block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": _whole(shape, "attention.head_count_kv")
        if "attention.head_count_kv" in shape
        else heads,
        "head_dim": _whole(shape, "rope.dimension_count") if "rope.dimension_count" in shape else hidden // heads,
        "max_position_embeddings": _whole(shape, "context_length"),
        "rms_norm_eps": _real(shape["attention.layer_norm_rms_epsilon"]),
        "rope_theta": base,
        "rope_parameters": {"rope_type": "default", "rope_theta": base},
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),  # type: ignore[arg-type]  # a list, or the file is none
        "tie_word_embeddings": not has_head,
        "bos_token_id": fields.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": fields["tokenizer.ggml.eos_token_id"],
    }


def _whole(shape: Fields, name: str) -> int:
    value = shape[name]
    if not isinstance(value, int):  # one number for each layer
        raise WeightsUnavailable(f"weights: llama.{name} differs from layer to layer; plain Llamas convert")
    return value


def _real(value: object) -> float:
    """The shortest number that is the same in 32 bits: 1e-05, not 9.999999747378752e-06."""
    return float(str(np.float32(value)))  # type: ignore[arg-type]


def _tensor(path: Path, tensor: gguf.ReaderTensor, config: dict[str, object]) -> tuple[str, np.ndarray]:
    weights = gguf.dequantize(tensor.data, tensor.tensor_type)
    _, _, rest = tensor.name.partition("blk.")
    layer, _, part = rest.partition(".")
    name = f"model.layers.{layer}.{LAYER_NAMES.get(part)}" if part in LAYER_NAMES else NAMES.get(tensor.name)
    if name is None:
        raise WeightsUnavailable(f'weights: {path.name} has a tensor "{tensor.name}"; plain Llamas have none')
    if part == "attn_q.weight":
        weights = split_rotations(weights, int(str(config["num_attention_heads"])))
    if part == "attn_k.weight":
        weights = split_rotations(weights, int(str(config["num_key_value_heads"])))
    return name, np.ascontiguousarray(weights, np.float16)
