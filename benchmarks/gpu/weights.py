"""Random weights of a named shape, for machines that reach no hub: text is noise, time is real.

Words of the tokenizer are `w0`, `w1` and so on, so that a prompt has exactly as many tokens as it has words.
"""

import json
from pathlib import Path
from typing import Any

from msgspec import Struct

VOCABULARY = 49_152


class Shape(Struct, frozen=True, kw_only=True):
    """A Llama's, by the names of its configuration."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    vocab_size: int = VOCABULARY


SHAPES = {
    "llama-3.1-8b": Shape(
        hidden_size=4096,
        intermediate_size=14_336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
    ),
    "llama-3.2-1b": Shape(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8
    ),
    "tiny": Shape(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=512,
    ),
}


def random_weights(name: str, folder: Path, *, device: str) -> Path:
    """A folder that engines load; what is there already is taken."""
    place = folder / name
    if (place / "config.json").exists():
        return place
    import torch  # noqa: PLC0415 - only machines that run engines have it
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

    shape = SHAPES[name]
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    fields: dict[str, Any] = {field: getattr(shape, field) for field in shape.__struct_fields__}
    config = LlamaConfig(**fields, max_position_embeddings=8192, eos_token_id=None, bos_token_id=None, dtype=dtype)
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    with torch.device(device):
        model = LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    model.generation_config.eos_token_id = None
    model.generation_config.do_sample = False
    model.save_pretrained(place)
    del model
    if device == "cuda":
        torch.cuda.empty_cache()
    _tokenizer(shape.vocab_size, place)
    return place


def _tokenizer(words: int, place: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: PLC0415
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    tokenizer = Tokenizer(models.WordLevel({f"w{number}": number for number in range(words)}, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="w0")
    fast.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    fast.save_pretrained(place)
    settings = json.loads((place / "tokenizer_config.json").read_text())
    (place / "tokenizer_config.json").write_text(json.dumps({**settings, "clean_up_tokenization_spaces": False}))
