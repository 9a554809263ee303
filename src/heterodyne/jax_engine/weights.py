"""A model's numbers as the engine multiplies by them: what a layer does in one product is one matrix."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from heterodyne.registry.families.catalogue import BY_MODEL_TYPE
from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.families.family import EMBEDDING, HEAD, LAYER

KINDS: dict[str, Any] = {"bf16": jnp.bfloat16, "fp32": jnp.float32}
FUSED = {  # what the engine has: what it is put together from
    "qkv": ("self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"),
    "qkv_bias": ("self_attn.q_proj.bias", "self_attn.k_proj.bias", "self_attn.v_proj.bias"),
    "out": ("self_attn.o_proj.weight",),
    "gate_up": ("mlp.gate_proj.weight", "mlp.up_proj.weight"),
    "down": ("mlp.down_proj.weight",),
}
NORMS = {
    "before_attention": "input_layernorm.weight",
    "query_norm": "self_attn.q_norm.weight",
    "key_norm": "self_attn.k_norm.weight",
}
TWO_NORMS = {"before_feed_forward": "post_attention_layernorm.weight"}
FOUR_NORMS = {
    "after_attention": "post_attention_layernorm.weight",
    "before_feed_forward": "pre_feedforward_layernorm.weight",
    "after_feed_forward": "post_feedforward_layernorm.weight",
}


def weights_of(shape: DecoderShape, arrays: Mapping[str, np.ndarray], precision: str) -> dict[str, Any]:
    """On the device, from a checkpoint's arrays by their names in SafeTensors."""
    kind, shift = KINDS[precision], BY_MODEL_TYPE[shape.model_type].norm_shift

    def matrix(*names: str) -> Any:
        return jnp.concatenate([jnp.asarray(arrays[name]).astype(kind) for name in names])

    def norm(name: str) -> Any:
        return jnp.asarray(arrays[name]).astype(jnp.float32) + shift

    layers = []
    for number in range(shape.layers):
        before = LAYER.format(number)
        has_four = before + FOUR_NORMS["before_feed_forward"] in arrays
        norms = NORMS | (FOUR_NORMS if has_four else TWO_NORMS)
        fused = {name: matrix(*(before + part for part in parts)) for name, parts in FUSED.items()
                 if before + parts[0] in arrays}  # fmt: skip
        layers.append(fused | {name: norm(before + part) for name, part in norms.items() if before + part in arrays})
    embedding = matrix(EMBEDDING)
    head = embedding if shape.has_tied_embeddings else matrix(HEAD)
    return {"embedding": embedding, "head": head, "norm": norm("model.norm.weight"), "layers": layers}


def random_weights(shape: DecoderShape, precision: str, seed: int = 0) -> dict[str, Any]:
    """Numbers from a seed, made on the device: words are noise, times are those of a real model of that shape."""
    kind, width = KINDS[precision], shape.head_dim
    queries, keys = shape.heads * width, shape.kv_heads * width
    draw = _drawer(jax.random.key(seed), kind)
    ones = jnp.ones(shape.hidden, jnp.float32)
    layers = [
        {
            "before_attention": ones,
            "before_feed_forward": ones,
            "qkv": draw(queries + 2 * keys, shape.hidden),
            "out": draw(shape.hidden, queries),
            "gate_up": draw(2 * shape.feed_forward, shape.hidden),
            "down": draw(shape.hidden, shape.feed_forward),
        }
        for _ in range(shape.layers)
    ]
    embedding = draw(shape.vocabulary, shape.hidden)
    head = embedding if shape.has_tied_embeddings else draw(shape.vocabulary, shape.hidden)
    return {"embedding": embedding, "head": head, "norm": ones, "layers": layers}


def weight_bytes(weights: Any) -> int:
    """What a step of decoding reads of them: all but an embedding that is not the head too."""
    read = {id(leaf): leaf.nbytes for leaf in jax.tree.leaves(weights)}
    if weights["embedding"] is not weights["head"]:
        del read[id(weights["embedding"])]
    return sum(read.values())


def _drawer(key: Any, kind: Any) -> Callable[[int, int], Any]:
    """Each call draws another matrix, so wide that rows keep their length."""
    draws = iter(range(1 << 20))

    @functools.partial(jax.jit, static_argnums=(1, 2))
    def drawn(one: Any, rows: int, columns: int) -> Any:
        return (jax.random.normal(one, (rows, columns), kind) / math.sqrt(columns)).astype(kind)

    return lambda rows, columns: drawn(jax.random.fold_in(key, next(draws)), rows, columns)
