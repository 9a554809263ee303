"""A model's shape from the metadata and the tensor list of a GGUF file."""

from pathlib import Path

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.config_fields import ConfigFields
from heterodyne.physics.model_spec import Experts, LatentAttention, ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.registry.gguf.head import GgufHead, read_gguf_head

HEAD = "output.weight"  # absent when the embedding serves as the head
# Bits per weight of the whole file up to which a format's name is right enough.
PRECISION_BY_BITS = ((6.0, Precision.INT4), (10.0, Precision.INT8), (20.0, Precision.FP16))


def spec_from_gguf(path: Path) -> ModelSpec:
    """The spec, with the bytes its tensors really take; raises `InvalidSpec` with the key that is missing or wrong."""
    head = read_gguf_head(path)
    architecture = head.metadata.get("general.architecture")
    if not isinstance(architecture, str):
        raise InvalidSpec(f"{path.name}: general.architecture is missing")
    return _spec(path, head, _shape(path, head, f"{architecture}."), architecture)


def _shape(path: Path, head: GgufHead, prefix: str) -> ConfigFields:
    """The keys of the file's own architecture, without its name; a list per layer counts as its largest number."""
    shape: dict[str, object] = {"vocab_size": head.list_lengths.get("tokenizer.ggml.tokens")}
    for key, value in head.metadata.items():
        if key.startswith(prefix):
            shape[key.removeprefix(prefix)] = max(value) if isinstance(value, list) and value else value
    return ConfigFields(path.name, shape)


def _spec(path: Path, head: GgufHead, shape: ConfigFields, architecture: str) -> ModelSpec:
    count = sum(numbers for numbers, _ in head.tensors.values())
    size_bytes = sum(size for _, size in head.tensors.values())
    heads, hidden, layers = (shape.whole(key) for key in ("attention.head_count", "embedding_length", "block_count"))
    latent = _latent(shape) if shape.has("attention.kv_lora_rank") else None
    experts = _experts(shape)
    context_tokens = shape.whole("context_length")
    window = shape.optional_count("attention.sliding_window") or None
    is_windowed = window is not None and window < context_tokens
    is_all_sparse = experts is not None and experts.dense_layers == 0
    return ModelSpec(
        name=path.stem,
        layers=layers,
        hidden=hidden,
        heads=heads,
        # A latent is stored as one KV head; the spec counts the heads it stands for.
        kv_heads=heads if latent else shape.optional_whole("attention.head_count_kv") or heads,
        head_dim=_head_dim(shape, latent) or hidden // heads,
        intermediate=0 if is_all_sparse else shape.whole("feed_forward_length"),
        vocabulary=shape.whole("vocab_size"),
        context_tokens=context_tokens,
        has_tied_embeddings=HEAD not in head.tensors,
        latent=latent,
        experts=experts,
        window_tokens=window if is_windowed else None,
        windowed_layers=_windowed_layers(architecture, layers) if is_windowed else 0,
        checkpoint_precision=_precision(size_bytes, count),
        checkpoint_bytes=float(size_bytes) or None,
    )


def _head_dim(shape: ConfigFields, latent: LatentAttention | None) -> int | None:
    if latent is not None:
        return latent.nope_dim + latent.rope_dim
    return shape.optional_whole("attention.key_length")


def _latent(shape: ConfigFields) -> LatentAttention:
    """Newer files keep the width of an expanded head under `_mla`, older ones under the plain key."""
    rope_dim = shape.whole("rope.dimension_count")
    key = shape.first("attention.key_length_mla") or "attention.key_length"
    value = shape.first("attention.value_length_mla") or "attention.value_length"
    nope_dim = shape.whole(key) - rope_dim
    if nope_dim < 1:
        raise shape.wrong(key, f"no wider than the {rope_dim} rotated numbers")
    return LatentAttention(
        kv_rank=shape.whole("attention.kv_lora_rank"),
        rope_dim=rope_dim,
        nope_dim=nope_dim,
        value_dim=shape.whole(value),
        query_rank=shape.optional_whole("attention.q_lora_rank"),
    )


def _experts(shape: ConfigFields) -> Experts | None:
    count = shape.optional_count("expert_count")
    if not count:
        return None
    active = shape.whole("expert_used_count")
    if active > count:
        raise shape.wrong("expert_used_count", f"{active} is more than the {count} experts there are")
    width = shape.whole(shape.first("expert_feed_forward_length") or "feed_forward_length")
    shared = shape.optional_count("expert_shared_feed_forward_length")
    return Experts(
        count=count,
        active=active,
        intermediate=width,
        shared_intermediate=(shape.optional_count("expert_shared_count") or 0) * width if shared is None else shared,
        dense_layers=shape.optional_count("leading_dense_block_count") or 0,
    )


def _windowed_layers(architecture: str, layers: int) -> int:
    """How many layers use the sliding window: files have it by architecture only."""
    if architecture == "gemma3":
        return layers - layers // 6
    if architecture in ("gemma2", "gpt-oss"):
        return layers - layers // 2
    return layers


def _precision(size_bytes: int, count: int) -> Precision:
    """The format nearest to the bits a weight takes on average; mixed files have no better name."""
    bits = 8 * size_bytes / count if count else 16.0
    return next((precision for limit, precision in PRECISION_BY_BITS if bits <= limit), Precision.FP32)
