"""The keys and values of every slot: made, made longer or shorter, and taken from one slot to another."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from heterodyne.jax_engine.attention import Cache
from heterodyne.registry.families.decoder_shape import DecoderShape


def new_cache(shape: DecoderShape, slots: int, length: int, kind: Any) -> Cache:
    """All zeros."""
    return [new_layer(shape, slots, length, kind) for _ in range(shape.layers)]


def new_layer(shape: DecoderShape, slots: int, length: int, kind: Any) -> tuple[Any, Any]:
    """Keys and values of one."""
    sides = (slots, shape.kv_heads, length, shape.head_dim)
    return jnp.zeros(sides, kind), jnp.zeros(sides, kind)


def with_length(cache: Cache, length: int) -> Cache:
    """The same places in arrays of another length. Layer by layer, so that one layer at most is held twice."""
    return [tuple(_with_length(held, length) for held in _taken(cache, number)) for number in range(len(cache))]


@functools.partial(jax.jit, donate_argnums=0)
def copied(cache: Cache, source: Any, target: Any) -> Cache:
    """What slot `source` holds, in slot `target` too."""
    return [(keys.at[target].set(keys[source]), values.at[target].set(values[source])) for keys, values in cache]


def token_bytes(shape: DecoderShape, kind: Any) -> int:
    """Of one place of one slot, in all layers."""
    number_bytes: int = jnp.dtype(kind).itemsize
    return 2 * shape.layers * shape.kv_heads * shape.head_dim * number_bytes


def _taken(cache: Cache, number: int) -> tuple[Any, Any]:
    taken, cache[number] = cache[number], (None, None)
    return taken


@functools.partial(jax.jit, static_argnums=1)
def _with_length(held: Any, length: int) -> Any:
    more = length - held.shape[2]
    return jnp.pad(held, ((0, 0), (0, 0), (0, more), (0, 0))) if more > 0 else held[:, :, :length]
