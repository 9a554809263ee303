"""How long a step of all slots takes, beside what reading the weights and the cache once would take."""

import time
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from heterodyne.jax_engine.cache import new_cache, token_bytes
from heterodyne.jax_engine.programs import DecoderPrograms, TokenChunk, new_state, one_slots_rules
from heterodyne.jax_engine.weights import weight_bytes

ROUNDS = 20
CHUNK_TOKENS = 512


def steps(programs: DecoderPrograms, slots: int, context: int, bytes_per_s: float) -> Iterator[dict[str, Any]]:
    """Of so many slots that are nearly full, by how many steps one call makes, and by how tokens are chosen."""
    kind = programs.weights["embedding"].dtype
    floor_ms = (
        1000 * (weight_bytes(programs.weights) + slots * context * token_bytes(programs.shape, kind)) / (bytes_per_s)
    )
    for of_a_call, draws in ((1, False), (4, False), (1, True)):
        cache = new_cache(programs.shape, slots, context, kind)
        state = new_state(programs.shape, slots)
        rules = state.rules._replace(temperature=state.rules.temperature + 0.7, top_p=state.rules.top_p * 0.9)
        state = state._replace(positions=state.positions + context - (ROUNDS + 3) * of_a_call, rules=rules)
        live, calls_ms = np.ones(slots, bool), 0.0
        for round_ in range(ROUNDS + 3):
            if round_ == 3:  # compiled, and warm
                began_s = time.monotonic()
            cache, state, out = programs.steps(cache, state, live, steps=of_a_call, draws=draws, top=0)
            if round_ < 3:
                np.asarray(out.tokens)
            elif round_ == ROUNDS + 2:
                calls_ms = 1000 * (time.monotonic() - began_s) / ROUNDS
        np.asarray(out.tokens)
        each_ms = 1000 * (time.monotonic() - began_s) / ROUNDS / of_a_call
        del cache, state
        yield {
            "what": "steps", "slots": slots, "context": context, "of_a_call": of_a_call, "draws": draws,
            "step_ms": round(each_ms, 3), "floor_ms": round(floor_ms, 3), "of_floor": round(floor_ms / each_ms, 3),
            "call_ms": round(calls_ms, 3), "tokens_per_s": round(1000 * slots / each_ms),
        }  # fmt: skip


def chunks(programs: DecoderPrograms, slots: int, context: int, operations_per_s: float) -> dict[str, Any]:
    """How long a chunk of a prompt takes, beside its multiplications alone."""
    size = min(CHUNK_TOKENS, context)
    cache = new_cache(programs.shape, slots, context, programs.weights["embedding"].dtype)
    state = new_state(programs.shape, slots)
    tokens = np.arange(size, dtype=np.int32) % programs.shape.vocabulary
    chunk = TokenChunk(tokens, np.array([0, 0, size], np.int32), one_slots_rules(0, 1, 1, 0, 0))
    for round_ in range(ROUNDS + 3):
        if round_ == 3:
            began_s = time.monotonic()
        cache, state, out = programs.chunk(cache, state, chunk, is_last=True, draws=False, top=0)
        if round_ < 3:
            np.asarray(out.tokens)
    np.asarray(out.tokens)
    each_ms = 1000 * (time.monotonic() - began_s) / ROUNDS
    layers = sum(leaf.size for leaf in jax.tree.leaves(programs.weights["layers"]) if leaf.ndim == 2)
    least_ms = 1000 * 2 * size * layers / operations_per_s
    return {
        "what": "chunk", "tokens": size, "chunk_ms": round(each_ms, 3), "least_ms": round(least_ms, 3),
        "of_least": round(least_ms / each_ms, 3), "peak_gb": _peak_gb(),
    }  # fmt: skip


def _peak_gb() -> float | None:
    seen = jax.devices()[0].memory_stats() or {}
    return round(seen["peak_bytes_in_use"] / 1e9, 2) if "peak_bytes_in_use" in seen else None


def as_kind(weights: Any, kind: Any) -> Any:
    """The same numbers in matrices of another precision."""
    return jax.tree.map(lambda leaf: leaf.astype(kind) if leaf.ndim == 2 else leaf.astype(jnp.float32), weights)
