"""A model's shape from the dictionary in its Hugging Face `config.json`."""

from collections.abc import Mapping

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import unknown_name
from heterodyne.physics.config_fields import ConfigFields
from heterodyne.physics.model_spec import Experts, LatentAttention, ModelSpec
from heterodyne.physics.precision import Precision

# What the library of each family assumes when the file is silent.
FAMILIES: dict[str, dict[str, object]] = {
    "llama": {},
    "mistral": {},
    "mixtral": {"num_local_experts": 8, "num_experts_per_tok": 2},
    "qwen2": {},
    "qwen3": {},
    "qwen3_moe": {},
    "deepseek_v3": {},
    "gemma2": {"tie_word_embeddings": True, "head_dim": 256},
    "gemma3_text": {
        "tie_word_embeddings": True,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "vocab_size": 262_208,
        "max_position_embeddings": 131_072,
        "sliding_window_pattern": 6,
    },
    "gpt_oss": {"head_dim": 64},
    "phi3": {},
}
QUANTISED: dict[str, Precision] = {
    "fp8": Precision.FP8,
    "mxfp4": Precision.FP4,
    "modelopt_fp4": Precision.FP4,
    "awq": Precision.INT4,
    "gptq": Precision.INT4,
    "bitsandbytes": Precision.INT4,
    # compressed-tensors says it in its format instead.
    "float-quantized": Precision.FP8,
    "int-quantized": Precision.INT8,
    "pack-quantized": Precision.INT4,
    "nvfp4-pack-quantized": Precision.FP4,
}
TYPES: dict[str, Precision] = {
    "bfloat16": Precision.BF16,
    "float16": Precision.FP16,
    "float32": Precision.FP32,
}


def from_hf_config(config: Mapping[str, object], name: str) -> ModelSpec:
    """The spec; raises `InvalidSpec` with the field that is missing or makes no sense."""
    fields, family = _language_model(config)
    heads = fields.whole("num_attention_heads")
    hidden = fields.whole("hidden_size")
    layers = fields.whole("num_hidden_layers")
    context_tokens = fields.whole("max_position_embeddings")
    latent = _latent(fields) if fields.has("kv_lora_rank") else None
    experts = _experts(fields, layers)
    kv_heads = fields.optional_whole("num_key_value_heads") or heads
    if heads % kv_heads:
        raise fields.wrong("num_key_value_heads", f"{kv_heads} does not divide the {heads} attention heads")
    window, windowed_layers = _windows(fields, family, layers, context_tokens)
    is_all_sparse = experts is not None and experts.dense_layers == 0
    return ModelSpec(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=_head_dim(fields, latent, hidden, heads),
        intermediate=0 if is_all_sparse else fields.whole("intermediate_size"),
        vocabulary=fields.whole("vocab_size"),
        context_tokens=context_tokens,
        has_tied_embeddings=fields.flag("tie_word_embeddings"),
        latent=latent,
        experts=experts,
        window_tokens=window,
        windowed_layers=windowed_layers,
        checkpoint_precision=_precision(config, fields),
    )


def _language_model(config: Mapping[str, object]) -> tuple[ConfigFields, str]:
    """The part that describes text, with its family's silent defaults, and the family."""
    text = config.get("text_config")
    part: Mapping[str, object] = text if isinstance(text, Mapping) else config
    family = part.get("model_type") or config.get("model_type")
    if not isinstance(family, str):
        raise InvalidSpec("config.json: model_type is missing")
    if family not in FAMILIES:
        raise InvalidSpec(f"config.json: {unknown_name('model_type', family, FAMILIES)}")
    return ConfigFields("config.json", {**FAMILIES[family], **part}), family


def _head_dim(fields: ConfigFields, latent: LatentAttention | None, hidden: int, heads: int) -> int:
    if latent is not None:
        return latent.nope_dim + latent.rope_dim
    if hidden < heads:
        raise fields.wrong("hidden_size", f"{hidden} is less than the {heads} heads that share it")
    return fields.optional_whole("head_dim") or hidden // heads


def _latent(fields: ConfigFields) -> LatentAttention:
    return LatentAttention(
        kv_rank=fields.whole("kv_lora_rank"),
        rope_dim=fields.whole("qk_rope_head_dim"),
        nope_dim=fields.whole("qk_nope_head_dim"),
        value_dim=fields.whole("v_head_dim"),
        query_rank=fields.optional_whole("q_lora_rank"),
    )


def _experts(fields: ConfigFields, layers: int) -> Experts | None:
    count_field = fields.first("num_local_experts", "num_experts", "n_routed_experts")
    if count_field is None:
        return None
    count = fields.whole(count_field)
    active = fields.whole(fields.first("num_experts_per_tok", "experts_per_token") or "num_experts_per_tok")
    if active > count:
        raise fields.wrong("num_experts_per_tok", f"{active} is more than the {count} experts there are")
    width = fields.whole(fields.first("moe_intermediate_size") or "intermediate_size")
    dense_layers = fields.optional_count("first_k_dense_replace") or 0
    if dense_layers > layers:
        raise fields.wrong("first_k_dense_replace", f"{dense_layers} is more than the {layers} layers")
    return Experts(
        count=count,
        active=active,
        intermediate=width,
        shared_intermediate=(fields.optional_count("n_shared_experts") or 0) * width,
        dense_layers=dense_layers,
    )


def _windows(fields: ConfigFields, family: str, layers: int, context_tokens: int) -> tuple[int | None, int]:
    """The window and how many layers look through it."""
    window = fields.optional_whole("sliding_window")
    if window is None or window >= context_tokens or fields.is_false("use_sliding_window"):
        return None, 0
    kinds = fields.words("layer_types")
    if kinds is not None:
        windowed = kinds.count("sliding_attention")
    elif family == "gemma3_text":
        windowed = layers - layers // fields.whole("sliding_window_pattern")
    elif family in ("gemma2", "gpt_oss"):
        windowed = layers - layers // 2  # every other layer, the first one windowed
    elif family in ("qwen2", "qwen3", "qwen3_moe"):
        windowed = layers - min(layers, fields.optional_count("max_window_layers") or 0)
    else:
        windowed = layers
    return (window, windowed) if windowed else (None, 0)


def _precision(config: Mapping[str, object], fields: ConfigFields) -> Precision:
    """Of the checkpoint this file lies beside; a way of quantising we do not know counts at sixteen bits."""
    quantised = config.get("quantization_config")
    if not isinstance(quantised, Mapping):
        return TYPES.get(fields.word("torch_dtype") or fields.word("dtype") or "", Precision.BF16)
    if quantised.get("bits") == 8 or quantised.get("load_in_8bit") is True:
        return Precision.INT8
    method = quantised.get("quant_method")
    named = quantised.get("format") if method == "compressed-tensors" else method
    return QUANTISED.get(str(named), Precision.BF16)
