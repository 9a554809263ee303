"""How rows look at what a cache holds, which they are first written to: all slots at once, or many rows of one slot.

A cache is `(keys, values)` of every layer, each `[slots, kv heads, length, width]`: no copy is made where it is given
away (`donate_argnums`), for rows are written by their three leading numbers.
"""

from typing import Any

import jax.numpy as jnp

from heterodyne.jax_engine.model import Attend, product, softcapped
from heterodyne.registry.families.decoder_shape import DecoderShape

Cache = list[tuple[Any, Any]]


def attend_slots(shape: DecoderShape, cache: Cache, positions: Any) -> Attend:
    """One row of each slot, in order. A position past the cache's length is written nowhere; `cache` is changed."""
    slots, kv_heads, length, _ = cache[0][0].shape
    index = (jnp.arange(slots)[:, None], jnp.arange(kv_heads)[None, :], positions[:, None])

    def attend(number: int, queries: Any, keys: Any, values: Any) -> Any:
        seen_keys, seen_values = cache[number] = tuple(
            held.at[index].set(new, mode="drop", unique_indices=True)
            for held, new in zip(cache[number], (keys, values), strict=True)
        )
        scores = product("bkgd,bktd->bkgt", queries, seen_keys)
        sees = _seen(shape, number, positions, length)[:, None, None, :]
        shares = _shares(softcapped(shape, scores), sees).astype(seen_values.dtype)
        return product("bkgt,bktd->bkgd", shares, seen_values)

    return attend


def attend_chunk(shape: DecoderShape, cache: Cache, slot: Any, positions: Any) -> Attend:
    """Rows of one slot that follow each other."""
    _, kv_heads, length, _ = cache[0][0].shape
    index = (slot, jnp.arange(kv_heads)[None, :], positions[:, None])

    def attend(number: int, queries: Any, keys: Any, values: Any) -> Any:
        seen_keys, seen_values = cache[number] = tuple(
            held.at[index].set(new, mode="drop", unique_indices=True)
            for held, new in zip(cache[number], (keys, values), strict=True)
        )
        scores = product("ckgd,ktd->kgct", queries, seen_keys[slot])
        sees = _seen(shape, number, positions, length)[None, None]
        shares = _shares(softcapped(shape, scores), sees).astype(seen_values.dtype)
        return product("kgct,ktd->ckgd", shares, seen_values[slot])

    return attend


def _seen(shape: DecoderShape, number: int, positions: Any, length: int) -> Any:
    """Which places each row looks at: those up to its own, no further back than the window."""
    back = positions[:, None] - jnp.arange(length)[None, :]
    sees = back >= 0
    if shape.window_tokens is not None and shape.is_windowed(number):
        sees = sees & (back < shape.window_tokens)
    return sees


def _shares(scores: Any, sees: Any) -> Any:
    # A finite floor: rows of idle slots see nothing, and must not become NaN where debugging looks for it.
    scores = jnp.where(sees, scores, -1e30)
    raised = jnp.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)
