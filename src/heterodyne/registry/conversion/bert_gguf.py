"""Convert a BERT embedding model from SafeTensors to the GGUF that llama.cpp's `bert` architecture reads."""

from pathlib import Path

import gguf
import msgspec
import numpy as np
from msgspec import Struct
from safetensors import SafetensorError
from safetensors.numpy import load_file

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable

ARCHITECTURE = gguf.MODEL_ARCH.BERT
PHANTOM_SPACE = "\u2581"  # llama.cpp marks where words begin; WordPiece marks where they continue
UNUSED_TENSORS = ("embeddings.position_ids", "pooler.")
# llama.cpp adds these to activations row by row, which it does in 32 bits only.
KEPT_IN_F32 = ("position_embd", "token_types")


class BertConfig(Struct, frozen=True):
    """The fields of `config.json` that a GGUF carries."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    layer_norm_eps: float = 1e-12
    type_vocab_size: int = 2
    position_embedding_type: str = "absolute"


def convert(folder: Path, target: Path, name: str | None = None) -> None:
    """Write `target` from the model in `folder`; it appears complete or not at all. `name` is the model's."""
    try:
        config = msgspec.json.decode((folder / "config.json").read_bytes(), type=BertConfig)
        tokens = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        tensors = load_file(folder / "model.safetensors")
    except (msgspec.MsgspecError, SafetensorError, UnicodeDecodeError) as error:
        raise WeightsCorrupt(f"weights: {folder} is not a readable BERT model: {error}") from error
    if config.position_embedding_type != "absolute":
        raise WeightsUnavailable(
            f"weights: {folder} has {config.position_embedding_type} positions; only absolute ones convert"
        )
    arriving = target.with_name(target.name + ".part")
    writer = gguf.GGUFWriter(arriving, gguf.MODEL_ARCH_NAMES[ARCHITECTURE])
    _add_shape(writer, config, name or folder.name)
    _add_vocabulary(writer, tokens, config)
    _add_tensors(writer, tensors, config)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    arriving.replace(target)


def _add_shape(writer: gguf.GGUFWriter, config: BertConfig, name: str) -> None:
    writer.add_name(name)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)


def _add_vocabulary(writer: gguf.GGUFWriter, tokens: list[str], config: BertConfig) -> None:
    ids = {token: index for index, token in enumerate(tokens)}
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    missing = special - ids.keys()
    if missing:
        raise WeightsUnavailable(f"weights: the vocabulary lacks {', '.join(sorted(missing))}")
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([token if token in special else _phantom(token) for token in tokens])
    writer.add_token_types([gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL for token in tokens])
    writer.add_token_type_count(config.type_vocab_size)
    writer.add_bos_token_id(ids["[CLS]"])
    writer.add_eos_token_id(ids["[SEP]"])
    writer.add_sep_token_id(ids["[SEP]"])
    writer.add_unk_token_id(ids["[UNK]"])
    writer.add_pad_token_id(ids["[PAD]"])
    writer.add_mask_token_id(ids["[MASK]"])
    writer.add_add_bos_token(True)
    writer.add_add_sep_token(True)


def _phantom(token: str) -> str:
    return token[2:] if token.startswith("##") else PHANTOM_SPACE + token


def _add_tensors(writer: gguf.GGUFWriter, tensors: dict[str, np.ndarray], config: BertConfig) -> None:
    names = gguf.get_tensor_name_map(ARCHITECTURE, config.num_hidden_layers)
    for name, values in tensors.items():
        plain = name.removeprefix("bert.")
        if plain.startswith(UNUSED_TENSORS):
            continue
        mapped = names.get_name(plain, try_suffixes=(".weight", ".bias"))
        if mapped is None:
            raise WeightsUnavailable(f'weights: a BERT model has no tensor "{name}"')
        is_halved = values.ndim > 1 and not mapped.startswith(KEPT_IN_F32)
        writer.add_tensor(mapped, values.astype(np.float16 if is_halved else np.float32))
