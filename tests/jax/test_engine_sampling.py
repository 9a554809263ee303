"""Which tokens the JAX engine's rules leave to be drawn, and how often."""

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("jax", reason="needs the extra `jax`; `make test-jax` installs it")

import jax.numpy as jnp

from heterodyne.jax_engine.sampling import SamplingRules, sampled

SHARES = np.array([0.05, 0.5, 0.3, 0.1, 0.05 - 1e-6, 1e-6])
DRAWS = 2000


def drawn(*, temperature: float = 1.0, top_p: float = 1.0, top_k: int = 6, min_p: float = 0.0) -> Counter[int]:
    """Each token's draws, in as many rows with seeds of their own."""

    def rows(value: float, kind: type) -> object:
        return jnp.full(DRAWS, value, kind)

    seeds = jnp.arange(DRAWS, dtype=jnp.uint32)
    rules = SamplingRules(rows(temperature, float), rows(top_p, float), rows(top_k, int), rows(min_p, float), seeds)
    logits = jnp.tile(jnp.log(jnp.asarray(SHARES, jnp.float32)), (DRAWS, 1))
    out = sampled(logits, rules, jnp.zeros(DRAWS, jnp.int32), draws=True, top=0)
    np.testing.assert_allclose(out.log_probabilities, np.log(SHARES)[np.asarray(out.tokens)], atol=1e-4)
    return Counter(np.asarray(out.tokens).tolist())


def test_tokens_come_as_often_as_the_model_says() -> None:
    seen = drawn()
    for token in (1, 2, 3):
        assert seen[token] / DRAWS == pytest.approx(SHARES[token], abs=0.04)


def test_a_nucleus_keeps_the_fewest_that_weigh_enough() -> None:
    assert drawn(top_p=0.75).keys() == {1, 2}
    assert drawn(top_p=0.85).keys() == {1, 2, 3}
    assert drawn(top_p=1e-3).keys() == {1}


def test_so_many_are_kept_as_are_asked_for() -> None:
    assert drawn(top_k=1).keys() == {1}
    assert drawn(top_k=3).keys() == {1, 2, 3}


def test_a_share_of_the_likeliest_is_a_floor() -> None:
    assert drawn(min_p=0.55).keys() == {1, 2}


def test_without_a_temperature_the_likeliest_comes() -> None:
    assert drawn(temperature=0.0).keys() == {1}
    assert drawn(temperature=1e-3).keys() == {1}
