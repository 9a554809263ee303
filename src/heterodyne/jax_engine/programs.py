"""The two programs that are compiled: a chunk of one prompt, and some steps of all slots at once.

Both are given the cache and the state away and give them back changed, so nothing is copied and the next call can be
made before this one has ended. Each combination of static arguments and lengths is compiled once.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from heterodyne.jax_engine.attention import Cache, attend_chunk, attend_slots
from heterodyne.jax_engine.cache import copied, new_cache
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


class ProgramKey(NamedTuple):
    """What one program is compiled for: a chunk where it has tokens, else steps; where it has neither, a row's copy."""

    cache_tokens: int
    chunk_tokens: int = 0
    steps: int = 0
    is_last: bool = True
    draws: bool = False
    top: int = 0


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
        self._ahead: dict[ProgramKey, Callable[..., Any]] = {}
        # GPUs and TPUs would multiply numbers of 32 bits in fewer than they have.
        self._precision = "float32" if weights["embedding"].dtype == jnp.float32 else None

    def chunk(
        self, cache: Cache, state: SlotState, chunk: TokenChunk, *, is_last: bool, draws: bool, top: int
    ) -> tuple[Cache, SlotState, SampledTokens]:
        """Read tokens into a slot; after the last chunk of a prompt comes the first token of its answer."""
        key = ProgramKey(cache[0][0].shape[2], len(chunk.tokens), 0, is_last, draws, top)
        return self._call(key, cache, state, chunk)

    def steps(
        self, cache: Cache, state: SlotState, live: Any, *, steps: int, draws: bool, top: int
    ) -> tuple[Cache, SlotState, SampledTokens]:
        """`steps` tokens more for each `live` slot; what comes back has steps in front."""
        return self._call(ProgramKey(cache[0][0].shape[2], 0, steps, True, draws, top), cache, state, live)

    def copy(self, cache: Cache, source: int, target: int) -> Cache:
        """What slot `source` holds, in slot `target` too."""
        program = self._ahead.get(ProgramKey(cache[0][0].shape[2]), copied)
        made: Cache = program(cache, np.int32(source), np.int32(target))
        return made

    def compile_ahead(self, key: ProgramKey, slots: int) -> None:
        """So that the first call like this one need not wait for it; several threads may do so at once."""
        kind = self.weights["embedding"].dtype
        cache = jax.eval_shape(lambda: new_cache(self.shape, slots, key.cache_tokens, kind))
        if not key.chunk_tokens and not key.steps:
            self._ahead[key] = copied.lower(cache, np.int32(0), np.int32(0)).compile()
            return
        state = jax.eval_shape(lambda: new_state(self.shape, slots))
        what: Any = np.zeros(slots, bool)
        if key.chunk_tokens:
            rules = one_slots_rules(0.0, 1.0, 1, 0.0, 0)
            what = TokenChunk(np.zeros(key.chunk_tokens, np.int32), np.zeros(3, np.int32), rules)
        with jax.default_matmul_precision(self._precision):
            program, chosen = self._program(key)
            self._ahead[key] = program.lower(self.weights, cache, state, what, **chosen).compile()

    def _call(self, key: ProgramKey, *given: Any) -> tuple[Cache, SlotState, SampledTokens]:
        made: tuple[Cache, SlotState, SampledTokens]
        ahead = self._ahead.get(key)
        if ahead is not None:
            made = ahead(self.weights, *given)
            return made
        with jax.default_matmul_precision(self._precision):
            program, chosen = self._program(key)
            made = program(self.weights, *given, **chosen)
        return made

    def _program(self, key: ProgramKey) -> tuple[Any, dict[str, Any]]:
        sampled_by = {"draws": key.draws, "top": key.top}
        if key.chunk_tokens:
            return self._chunk, {"is_last": key.is_last, **sampled_by}
        return self._steps, {"steps": key.steps, **sampled_by}


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
