"""Which token comes next, of every row by its own rules, on the device and without sorting a vocabulary."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

HALVINGS = 30  # a bound between two floats of 32 bits is found closer than they differ near one


class SamplingRules(NamedTuple):
    """Of each slot: arrays of the device, or one slot's numbers."""

    temperature: Any  # 0: the likeliest
    top_p: Any
    top_k: Any  # the vocabulary's size where nothing is said
    min_p: Any
    seed: Any


class SampledTokens(NamedTuple):
    """One token of each row."""

    tokens: Any
    log_probabilities: Any  # of the model, whatever the temperature
    top: tuple[Any, Any] | None  # the likeliest tokens and theirs


def sampled(logits: Any, rules: SamplingRules, positions: Any, *, draws: bool, top: int) -> SampledTokens:
    """`draws` is False where every row takes the likeliest, `top` is how many likely tokens are told."""
    said = jax.nn.log_softmax(logits, axis=-1)
    likeliest = jnp.argmax(logits, axis=-1)
    tokens = jnp.where(rules.temperature > 0, _drawn(said, rules, positions), likeliest) if draws else likeliest
    chosen = jnp.take_along_axis(said, tokens[:, None], axis=-1)[:, 0]
    return SampledTokens(tokens.astype(jnp.int32), chosen, jax.lax.top_k(said, top)[::-1] if top else None)


def _drawn(said: Any, rules: SamplingRules, positions: Any) -> Any:
    """By Gumbel's trick: a seed and a position give the same noise in any batch."""
    scaled = jax.nn.log_softmax(said / jnp.maximum(rules.temperature, 1e-4)[:, None], axis=-1)
    shares = jnp.exp(scaled)
    floor = jnp.maximum(
        _lowest_kept(shares, jnp.minimum(rules.top_p, 1.0), _mass_above),
        _lowest_kept(shares, rules.top_k.astype(jnp.float32), _count_above),
    )
    floor = jnp.maximum(floor, rules.min_p * shares.max(axis=-1))
    keys = jax.vmap(lambda seed, place: jax.random.fold_in(jax.random.key(seed), place))(rules.seed, positions)
    noise = jax.vmap(lambda key: jax.random.gumbel(key, shares.shape[1:], jnp.float32))(keys)
    return jnp.argmax(jnp.where(shares >= floor[:, None], scaled + noise, -jnp.inf), axis=-1)


def _lowest_kept(shares: Any, wanted: Any, measure: Any) -> Any:
    """The highest floor at which what is kept still measures `wanted`, by halving; 0 where all is wanted."""

    def halved(_: int, bounds: tuple[Any, Any]) -> tuple[Any, Any]:
        low, high = bounds
        middle = (low + high) / 2
        is_enough = measure(shares, middle) >= wanted
        return jnp.where(is_enough, middle, low), jnp.where(is_enough, high, middle)

    low = jnp.zeros(shares.shape[0])
    return jax.lax.fori_loop(0, HALVINGS, halved, (low, shares.max(axis=-1)))[0]


def _mass_above(shares: Any, floor: Any) -> Any:
    return jnp.where(shares >= floor[:, None], shares, 0.0).sum(axis=-1)


def _count_above(shares: Any, floor: Any) -> Any:
    return (shares >= floor[:, None]).sum(axis=-1).astype(jnp.float32)
