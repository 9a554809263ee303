"""A decoder's layers in JAX, for any rows of tokens; how they look at what came before is the caller's.

The families and their differences are those of the reference pass in `registry/reference/forward.py`, which this one is
held against. Sums are kept in 32 bits; matrices and the cache may have 16.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from heterodyne.registry.families.catalogue import BY_MODEL_TYPE
from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.reference.positions import frequencies

# A layer's number, its queries [rows, kv heads, group, width], keys and values [rows, kv heads, width]: what they see.
Attend = Callable[[int, Any, Any, Any], Any]


def hidden_rows(shape: DecoderShape, weights: Any, tokens: Any, positions: Any, attend: Attend) -> Any:
    """What the layers make of `tokens` at `positions`, one row for each, before the head."""
    x = weights["embedding"][tokens].astype(jnp.float32)
    if _is_gemma(shape):
        x = x * math.sqrt(shape.hidden)
    for number, layer in enumerate(weights["layers"]):
        turned = positions[:, None].astype(jnp.float32) * _frequencies(shape, number)
        x = x + _attended(shape, layer, x, turned, functools.partial(attend, number))
        x = x + _fed_forward(shape, layer, x)
    return x


def logits_of(shape: DecoderShape, weights: Any, rows: Any) -> Any:
    """In 32 bits."""
    logits = _times(_normed(shape, rows, weights["norm"]), weights["head"])
    if shape.logit_softcap is not None:
        logits = shape.logit_softcap * jnp.tanh(logits / shape.logit_softcap)
    return logits


def product(sides: str, one: Any, other: Any) -> Any:
    """An einsum whose sums are kept in 32 bits."""
    if one.dtype == jnp.bfloat16 and jax.default_backend() == "cpu":  # where XLA lacks some of these
        one, other = one.astype(jnp.float32), other.astype(jnp.float32)
    return jnp.einsum(sides, one, other, preferred_element_type=jnp.float32)


def softcapped(shape: DecoderShape, scores: Any) -> Any:
    """Scores of attention, scaled, and bounded where the model does that."""
    scores = scores / math.sqrt(shape.query_scalar or shape.head_dim)
    if shape.attention_softcap is None:
        return scores
    return shape.attention_softcap * jnp.tanh(scores / shape.attention_softcap)


def _attended(shape: DecoderShape, layer: Any, x: Any, turned: Any, attend: Callable[[Any, Any, Any], Any]) -> Any:
    inside = _times(_normed(shape, x, layer["before_attention"]), layer["qkv"])
    if "qkv_bias" in layer:
        inside = inside + layer["qkv_bias"]
    rows, width = x.shape[0], shape.head_dim
    inside = inside.reshape(rows, shape.heads + 2 * shape.kv_heads, width)
    queries, keys, values = jnp.split(inside, (shape.heads, shape.heads + shape.kv_heads), axis=1)
    if "query_norm" in layer:
        queries, keys = _normed(shape, queries, layer["query_norm"]), _normed(shape, keys, layer["key_norm"])
    kind = layer["qkv"].dtype
    queries, keys = _rotated(queries, turned).astype(kind), _rotated(keys, turned).astype(kind)
    groups = (rows, shape.kv_heads, shape.heads // shape.kv_heads, width)
    mixed = attend(queries.reshape(groups), keys, values.astype(kind))
    out = _times(mixed.reshape(rows, shape.heads * width), layer["out"])
    return _normed(shape, out, layer["after_attention"]) if "after_attention" in layer else out


def _fed_forward(shape: DecoderShape, layer: Any, x: Any) -> Any:
    inside = _times(_normed(shape, x, layer["before_feed_forward"]), layer["gate_up"])
    gate, up = jnp.split(inside, 2, axis=-1)
    activate = jax.nn.gelu if _is_gemma(shape) else jax.nn.silu
    out = _times(activate(gate) * up, layer["down"])
    return _normed(shape, out, layer["after_feed_forward"]) if "after_feed_forward" in layer else out


def _times(x: Any, matrix: Any) -> Any:
    """By a matrix that stands as checkpoints have it, one row for each number that comes out."""
    return product("ri,oi->ro", x.astype(matrix.dtype), matrix)


def _normed(shape: DecoderShape, x: Any, weight: Any) -> Any:
    return x * jax.lax.rsqrt((x * x).mean(axis=-1, keepdims=True) + shape.norm_epsilon) * weight


def _frequencies(shape: DecoderShape, number: int) -> np.ndarray:
    is_local = shape.is_windowed(number) and shape.local_rope_theta is not None
    return frequencies(shape, is_local=is_local).astype(np.float32)


def _rotated(x: Any, turned: Any) -> Any:
    """A head's first half with its second."""
    left, right = jnp.split(x, 2, axis=-1)
    cos, sin = jnp.cos(turned)[:, None, :], jnp.sin(turned)[:, None, :]
    return jnp.concatenate((left * cos - right * sin, right * cos + left * sin), axis=-1)


def _is_gemma(shape: DecoderShape) -> bool:
    return BY_MODEL_TYPE[shape.model_type].activation != "silu"
