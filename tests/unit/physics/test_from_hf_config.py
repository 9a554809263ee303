"""Shapes read from `config.json` are the built-in ones, family by family; what is wrong is named."""

import msgspec
import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.from_hf_config import from_hf_config
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 131072,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
CONFIGS: dict[str, dict[str, object]] = {
    "llama-3.1-8b": LLAMA,
    "smollm2-135m": {
        **LLAMA,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "max_position_embeddings": 8192,
        "num_attention_heads": 9,
        "num_hidden_layers": 30,
        "num_key_value_heads": 3,
        "tie_word_embeddings": True,
        "vocab_size": 49152,
    },
    "qwen2.5-7b": {
        "model_type": "qwen2",
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "max_position_embeddings": 32768,
        "max_window_layers": 28,
        "num_attention_heads": 28,
        "num_hidden_layers": 28,
        "num_key_value_heads": 4,
        "sliding_window": 4096,
        "use_sliding_window": False,
        "vocab_size": 152064,
    },
    "qwen3-32b": {
        "model_type": "qwen3",
        "head_dim": 128,
        "hidden_size": 5120,
        "intermediate_size": 25600,
        "max_position_embeddings": 40960,
        "num_attention_heads": 64,
        "num_hidden_layers": 64,
        "num_key_value_heads": 8,
        "sliding_window": None,
        "vocab_size": 151936,
    },
    "qwen3-30b-a3b": {
        "model_type": "qwen3_moe",
        "head_dim": 128,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "max_position_embeddings": 40960,
        "moe_intermediate_size": 768,
        "num_attention_heads": 32,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 48,
        "num_key_value_heads": 4,
        "vocab_size": 151936,
    },
    "mistral-7b": {
        "model_type": "mistral",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "max_position_embeddings": 32768,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "sliding_window": None,
        "vocab_size": 32768,
    },
    "mixtral-8x7b": {
        "model_type": "mixtral",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "max_position_embeddings": 32768,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "num_local_experts": 8,
        "vocab_size": 32000,
    },
    "deepseek-v3": {
        "model_type": "deepseek_v3",
        "first_k_dense_replace": 3,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "kv_lora_rank": 512,
        "max_position_embeddings": 163840,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_attention_heads": 128,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 61,
        "num_key_value_heads": 128,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
        "v_head_dim": 128,
        "vocab_size": 129280,
    },
    "gemma-2-9b": {
        "model_type": "gemma2",
        "head_dim": 256,
        "hidden_size": 3584,
        "intermediate_size": 14336,
        "max_position_embeddings": 8192,
        "num_attention_heads": 16,
        "num_hidden_layers": 42,
        "num_key_value_heads": 8,
        "sliding_window": 4096,
        "vocab_size": 256000,
    },
    "gemma-3-4b": {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "num_hidden_layers": 34,
            "sliding_window": 1024,
        },
        "vision_config": {"hidden_size": 1152},
    },
    "gpt-oss-120b": {
        "model_type": "gpt_oss",
        "experts_per_token": 4,
        "head_dim": 64,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "layer_types": ["sliding_attention", "full_attention"] * 18,
        "max_position_embeddings": 131072,
        "num_attention_heads": 64,
        "num_hidden_layers": 36,
        "num_key_value_heads": 8,
        "num_local_experts": 128,
        "quantization_config": {"quant_method": "mxfp4"},
        "sliding_window": 128,
        "vocab_size": 201088,
    },
    "phi-4": {
        "model_type": "phi3",
        "hidden_size": 5120,
        "intermediate_size": 17920,
        "max_position_embeddings": 16384,
        "num_attention_heads": 40,
        "num_hidden_layers": 40,
        "num_key_value_heads": 10,
        "sliding_window": None,
        "vocab_size": 100352,
    },
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_gives_the_built_in_shape(name: str) -> None:
    published = {"published_parameters": None, "published_active_parameters": None}
    assert from_hf_config(CONFIGS[name], name) == msgspec.structs.replace(model_spec(name), **published)


def test_heads_without_groups_each_have_their_own_keys() -> None:
    config = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
    assert from_hf_config(config, "x").kv_heads == 32


def test_a_window_as_wide_as_the_context_is_none() -> None:
    spec = from_hf_config({**CONFIGS["phi-4"], "sliding_window": 262144}, "x")
    assert (spec.window_tokens, spec.windowed_layers) == (None, 0)


def test_a_mistral_window_is_in_every_layer() -> None:
    spec = from_hf_config({**CONFIGS["mistral-7b"], "sliding_window": 4096}, "x")
    assert (spec.window_tokens, spec.windowed_layers) == (4096, 32)


@pytest.mark.parametrize(
    ("said", "precision"),
    [
        ({"torch_dtype": "float16"}, Precision.FP16),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, Precision.INT4),
        ({"quantization_config": {"quant_method": "gptq", "bits": 8}}, Precision.INT8),
        ({"quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized"}}, Precision.FP8),
    ],
)
def test_the_precision_of_the_checkpoint_is_read(said, precision) -> None:
    assert from_hf_config({**LLAMA, **said}, "x").checkpoint_precision is precision


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0; expected a whole number, 1 or more"),
        ({"hidden_size": -1}, "hidden_size is -1; expected"),
        ({"hidden_size": 4096.5}, "hidden_size is 4096.5; expected"),
        ({"vocab_size": "many"}, "vocab_size is 'many'; expected"),
        ({"vocab_size": True}, "vocab_size is True; expected"),
        ({"vocab_size": None}, "vocab_size is missing"),
        ({"num_key_value_heads": 5}, "num_key_value_heads: 5 does not divide the 32 attention heads"),
        ({"model_type": "lama"}, 'no model_type "lama"; did you mean "llama"'),
        ({"model_type": None}, "model_type is missing"),
        ({"num_local_experts": 4, "num_experts_per_tok": 9}, "9 is more than the 4 experts there are"),
        ({"num_local_experts": 4, "num_experts_per_tok": 2, "first_k_dense_replace": 40}, "40 is more than the 32"),
        ({"num_attention_heads": 8192, "num_key_value_heads": 1}, "hidden_size: 4096 is less than the 8192 heads"),
    ],
)
def test_a_field_that_makes_no_sense_is_named(changes, reason) -> None:
    with pytest.raises(InvalidSpec, match=reason):
        from_hf_config({**LLAMA, **changes}, "x")
