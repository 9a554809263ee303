"""The two programs that are compiled: a chunk of one prompt, and some steps of all slots at once.

Both are given the cache and the state away and give them back changed, so nothing is copied and the next call can be
made before this one has ended. Each combination of static arguments and lengths is compiled once.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from heterodyne.jax_engine.attention import Cache, attend_chunk, attend_slots
from heterodyne.jax_engine.model import hidden_rows, logits_of
from heterodyne.jax_engine.sampling import SampledTokens, SamplingRules, sampled
from heterodyne.registry.families.decoder_shape import DecoderShape


class SlotState(NamedTuple):
    """Of each slot, on the device: the token that is read next, its place, and how the one after it is chosen."""

    tokens: Any
    positions: Any
    rules: SamplingRules


def new_state(shape: DecoderShape, slots: int) -> SlotState:
    """Nothing runs."""
    zeros, whole = jnp.zeros(slots, jnp.float32), jnp.zeros(slots, jnp.int32)
    rules = SamplingRules(zeros, zeros + 1, whole + shape.vocabulary, zeros + 0, jnp.zeros(slots, jnp.uint32))
    return SlotState(whole + 0, whole, rules)


def one_slots_rules(temperature: float, top_p: float, top_k: int, min_p: float, seed: int) -> SamplingRules:
    """As a program takes them."""
    return SamplingRules(
        np.float32(temperature), np.float32(top_p), np.int32(top_k), np.float32(min_p), np.uint32(seed % (1 << 32))
    )


class TokenChunk(NamedTuple):
    """Tokens that follow each other in one slot, as numpy has them."""

    tokens: Any  # filled up to a length that is compiled
    where: Any  # the slot, the first token's place, and how many tokens are no filling
    rules: SamplingRules  # of the slot, numbers


class DecoderPrograms:
    """Of one model."""

    def __init__(self, shape: DecoderShape, weights: Any) -> None:
        self.shape = shape
        self.weights = weights
        self._chunk = jax.jit(
            functools.partial(_chunk, shape), static_argnames=("is_last", "draws", "top"), donate_argnums=(1, 2)
        )
        self._steps = jax.jit(
            functools.partial(_steps, shape), static_argnames=("steps", "draws", "top"), donate_argnums=(1, 2)
        )
        # GPUs and TPUs would multiply numbers of 32 bits in fewer than they have.
        self._precision = "float32" if weights["embedding"].dtype == jnp.float32 else None

    def chunk(
        self, cache: Cache, state: SlotState, chunk: TokenChunk, *, is_last: bool, draws: bool, top: int
    ) -> tuple[Cache, SlotState, SampledTokens]:
        """Read tokens into a slot; after the last chunk of a prompt comes the first token of its answer."""
        with jax.default_matmul_precision(self._precision):
            made: tuple[Cache, SlotState, SampledTokens] = self._chunk(
                self.weights, cache, state, chunk, is_last=is_last, draws=draws, top=top
            )
        return made

    def steps(
        self, cache: Cache, state: SlotState, live: Any, *, steps: int, draws: bool, top: int
    ) -> tuple[Cache, SlotState, SampledTokens]:
        """`steps` tokens more for each `live` slot; what comes back has steps in front."""
        with jax.default_matmul_precision(self._precision):
            made: tuple[Cache, SlotState, SampledTokens] = self._steps(
                self.weights, cache, state, live, steps=steps, draws=draws, top=top
            )
        return made


def _chunk(
    shape: DecoderShape,
    weights: Any,
    cache: Cache,
    state: SlotState,
    chunk: TokenChunk,
    *,
    is_last: bool,
    draws: bool,
    top: int,
) -> tuple[Cache, SlotState, SampledTokens]:
    cache, (slot, start, count) = list(cache), chunk.where
    places = jnp.arange(chunk.tokens.shape[0])
    positions = jnp.where(places < count, start + places, cache[0][0].shape[2])
    rows = hidden_rows(shape, weights, chunk.tokens, positions, attend_chunk(shape, cache, slot, positions))
    if not is_last:  # what comes back says no more than that the chunk is read
        return cache, state, SampledTokens(chunk.tokens[:1], rows[:1, 0], None)
    last = jax.lax.dynamic_slice_in_dim(rows, count - 1, 1)
    one = SamplingRules(*(jnp.asarray(rule)[None] for rule in chunk.rules))
    out = sampled(logits_of(shape, weights, last), one, (start + count - 1)[None], draws=draws, top=top)
    held = SamplingRules(*(all_.at[slot].set(rule) for all_, rule in zip(state.rules, chunk.rules, strict=True)))
    state = SlotState(state.tokens.at[slot].set(out.tokens[0]), state.positions.at[slot].set(start + count), held)
    return cache, state, out


def _steps(
    shape: DecoderShape, weights: Any, cache: Cache, state: SlotState, live: Any, *, steps: int, draws: bool, top: int
) -> tuple[Cache, SlotState, SampledTokens]:
    def step(carry: tuple[Cache, SlotState], _: Any) -> tuple[tuple[Cache, SlotState], SampledTokens]:
        cache, state = list(carry[0]), carry[1]
        positions = jnp.where(live, state.positions, cache[0][0].shape[2])  # idle slots are written nowhere
        rows = hidden_rows(shape, weights, state.tokens, positions, attend_slots(shape, cache, positions))
        out = sampled(logits_of(shape, weights, rows), state.rules, positions, draws=draws, top=top)
        tokens = jnp.where(live, out.tokens, state.tokens)
        return (cache, SlotState(tokens, state.positions + live, state.rules)), out

    if steps == 1:
        (cache, state), out = step((cache, state), None)
        return cache, state, jax.tree.map(lambda one: one[None], out)
    (cache, state), out = jax.lax.scan(step, (cache, state), length=steps)
    return cache, state, out
