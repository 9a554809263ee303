"""The numbers of a decoder as the fields of a GGUF file, and back."""

import math
from collections.abc import Mapping

import numpy as np

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.families.decoder_shape import ROPE_THETA, DecoderShape, RopeScaling
from heterodyne.registry.families.family import Family
from heterodyne.registry.gguf.head_bytes import GgufValue

LOCAL_ROPE_THETA = 10_000.0  # of gemma3, which llama.cpp takes where the file does not say
LARGE = {"gemma2": 46, "gemma3": 62}  # layers of the models whose attention is scaled by hidden / heads
LLAMA3_CONTEXT = 8192  # that llama3's stretched positions were trained on


def fields_of_shape(shape: DecoderShape, family: Family, file: str) -> dict[str, GgufValue]:
    """The fields under the architecture's name; raises what llama.cpp cannot be told."""
    _check_query_scalar(shape, family, file)
    fields: dict[str, GgufValue | None] = {
        "context_length": shape.context_tokens,
        "embedding_length": shape.hidden,
        "block_count": shape.layers,
        "feed_forward_length": shape.feed_forward,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "attention.key_length": shape.head_dim,
        "attention.value_length": shape.head_dim,
        "attention.layer_norm_rms_epsilon": shape.norm_epsilon,
        "rope.dimension_count": shape.head_dim,
        "rope.freq_base": shape.rope_theta,
        "rope.freq_base_swa": shape.local_rope_theta,
        "vocab_size": shape.vocabulary,
        "attention.sliding_window": shape.window_tokens,
        "attn_logit_softcapping": shape.attention_softcap,
        "final_logit_softcapping": shape.logit_softcap,
    }
    scaling = shape.rope_scaling
    if scaling is not None and scaling.kind != "llama3":  # whose factors are a tensor
        fields |= {
            "rope.scaling.type": scaling.kind,
            "rope.scaling.factor": scaling.factor,
            "rope.scaling.original_context_length": scaling.original_context_tokens,
        }
    return {f"{family.gguf}.{name}": value for name, value in fields.items() if value is not None}


def shape_of_fields(
    fields: Mapping[str, object], family: Family, file: str, *, has_head: bool, factors: np.ndarray | None
) -> DecoderShape:
    """The shape; `factors` are those of the tensor `rope_freqs`. Raises, with the field, what is missing or unknown."""
    prefix = f"{family.gguf}."
    own = {name.removeprefix(prefix): value for name, value in fields.items() if name.startswith(prefix)}
    if own.get("expert_count"):
        raise WeightsUnavailable(f"{file}: has {own['expert_count']} experts; models without convert")
    heads, hidden, layers = (
        _whole(own, name, file, prefix) for name in ("attention.head_count", "embedding_length", "block_count")
    )
    head_dim = _whole(own, "attention.key_length", file, prefix, own.get("rope.dimension_count", hidden // heads))
    window = own.get("attention.sliding_window")
    model_type = next(iter(family.architectures))
    if family.gguf == "llama" and window:
        model_type = "mistral"
    is_gemma3 = family.gguf == "gemma3"
    scalar = float(hidden // heads if layers == LARGE.get(family.gguf) else head_dim)
    tokens = fields.get("tokenizer.ggml.tokens")
    return DecoderShape(
        model_type=model_type,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=_whole(own, "attention.head_count_kv", file, prefix, heads),
        head_dim=head_dim,
        feed_forward=_whole(own, "feed_forward_length", file, prefix),
        vocabulary=len(tokens) if isinstance(tokens, list) else _whole(own, "vocab_size", file, prefix),
        context_tokens=_whole(own, "context_length", file, prefix),
        norm_epsilon=_real(own, "attention.layer_norm_rms_epsilon", file, prefix),
        rope_theta=_real(own, "rope.freq_base", file, prefix, ROPE_THETA),
        rope_scaling=_scaling(own, factors, head_dim, file, prefix),
        has_tied_embeddings=not has_head,
        window_tokens=window if isinstance(window, int) and window else None,
        attention_softcap=_optional_real(own, "attn_logit_softcapping", file, prefix),
        logit_softcap=_optional_real(own, "final_logit_softcapping", file, prefix),
        query_scalar=scalar if family.gguf in LARGE else None,
        local_rope_theta=_real(own, "rope.freq_base_swa", file, prefix, LOCAL_ROPE_THETA) if is_gemma3 else None,
        window_pattern=family.window_pattern,
        bos=_optional_id(fields, "bos"),
        eos=_optional_id(fields, "eos"),
    )


def llama3_factors(scaling: RopeScaling, shape: DecoderShape) -> np.ndarray:
    """By how much each frequency of positions is slowed: slow ones in full, fast ones not, those between by degrees.

    As transformers computes it (`rope_type: llama3`); llama.cpp divides by the factors of the tensor `rope_freqs`.
    """
    context = scaling.original_context_tokens or LLAMA3_CONTEXT
    pairs = shape.head_dim // 2
    wavelengths = 2 * math.pi * shape.rope_theta ** (np.arange(pairs, dtype=np.float64) / pairs)
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    smooth = (context / wavelengths - low) / (high - low)
    between = 1 / ((1 - smooth) / scaling.factor + smooth)
    factors = np.where(
        wavelengths < context / high, 1.0, np.where(wavelengths > context / low, scaling.factor, between)
    )
    return factors.astype(np.float32)


def _scaling(
    own: Mapping[str, object], factors: np.ndarray | None, head_dim: int, file: str, prefix: str
) -> RopeScaling | None:
    if factors is not None:
        return _llama3(own, factors, head_dim, file, prefix)
    kind = own.get("rope.scaling.type", "none")
    if kind == "none":
        return None
    if kind not in ("linear", "yarn"):
        raise WeightsUnavailable(f"{file}: {prefix}rope.scaling.type is {kind!r}; linear and yarn are known")
    original = own.get("rope.scaling.original_context_length")
    return RopeScaling(
        kind=str(kind),
        factor=_real(own, "rope.scaling.factor", file, prefix),
        original_context_tokens=original if isinstance(original, int) else None,
    )


def _llama3(own: Mapping[str, object], factors: np.ndarray, head_dim: int, file: str, prefix: str) -> RopeScaling:
    """The numbers that the factors were made of: those that all published models have, or none that can be found."""
    found = RopeScaling(kind="llama3", factor=float(factors.max()), original_context_tokens=LLAMA3_CONTEXT)
    probe = DecoderShape(
        model_type="llama", layers=1, hidden=1, heads=1, kv_heads=1, head_dim=head_dim, feed_forward=1, vocabulary=1,
        context_tokens=1, norm_epsilon=0.0, rope_theta=_real(own, "rope.freq_base", file, prefix, ROPE_THETA),
    )  # fmt: skip
    made = llama3_factors(found, probe)
    if made.shape != factors.shape or not np.allclose(made, factors, rtol=1e-3):
        raise WeightsUnavailable(
            f'{file}: the tensor "rope_freqs.weight" stretches positions in a way that is not known'
        )
    return found


def _check_query_scalar(shape: DecoderShape, family: Family, file: str) -> None:
    """llama.cpp knows how attention is scaled by the model's size alone."""
    derived = shape.hidden // shape.heads if shape.layers == LARGE.get(family.gguf) else shape.head_dim
    if shape.query_scalar is not None and shape.query_scalar != derived:
        raise WeightsUnavailable(
            f"{file}: query_pre_attn_scalar is {shape.query_scalar:g}; a GGUF of {family.name} means {derived}"
        )


def _whole(own: Mapping[str, object], name: str, file: str, prefix: str, default: object = None) -> int:
    value = own.get(name, default)
    if value is None:
        raise WeightsCorrupt(f"{file}: has no {prefix}{name}")
    if not isinstance(value, int):
        raise WeightsUnavailable(f"{file}: {prefix}{name} differs from layer to layer; models without that convert")
    return value


def _real(own: Mapping[str, object], name: str, file: str, prefix: str, default: float | None = None) -> float:
    """The shortest number that is the same in 32 bits: 1e-05, not 9.999999747378752e-06."""
    value = own.get(name, default)
    if not isinstance(value, int | float):
        raise WeightsCorrupt(f"{file}: has no {prefix}{name}")
    return float(str(np.float32(value)))


def _optional_real(own: Mapping[str, object], name: str, file: str, prefix: str) -> float | None:
    return None if own.get(name) is None else _real(own, name, file, prefix)


def _optional_id(fields: Mapping[str, object], role: str) -> int | None:
    value = fields.get(f"tokenizer.ggml.{role}_token_id")
    return value if isinstance(value, int) else None
