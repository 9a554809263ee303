"""The JAX engine's programs beside the reference pass: the same tokens in any chunks, batches and lengths."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax", reason="needs the extra `jax`; `make test-jax` installs it")

from heterodyne.jax_engine.cache import copied, with_length
from heterodyne.jax_engine.programs import one_slots_rules
from heterodyne.registry.families.catalogue import BY_MODEL_TYPE
from tests.support.jax_models import TinyJaxModel

LENGTH = 32
PROMPT = [5, 17, 40, 3, 99, 63, 12, 200, 8, 31, 77, 150, 9]
OTHER = [44, 45, 46]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> TinyJaxModel:
    return TinyJaxModel(tmp_path_factory.mktemp("jax") / "model", length=LENGTH)


@pytest.fixture
def model(compiled: TinyJaxModel) -> TinyJaxModel:
    compiled.clear(LENGTH)
    return compiled


def spoken(model: TinyJaxModel, live: list[int], count: int, *, draws: bool = False) -> dict[int, list[int]]:
    """What each slot says in single steps."""
    steps = [model.steps(live, 1, draws=draws).tokens[0] for _ in range(count)]
    return {slot: [int(step[slot]) for step in steps] for slot in live}


def greedy(model: TinyJaxModel, prompt: list[int], count: int) -> list[int]:
    """By the reference, which computes the whole text for each token."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(model.reference(tokens)[-1].argmax()))
    return tokens[len(prompt) :]


@pytest.mark.parametrize("model_type", BY_MODEL_TYPE)
def test_a_prompt_in_chunks_and_steps_says_what_the_reference_says(model_type: str, tmp_path: Path) -> None:
    model = TinyJaxModel(tmp_path / "model", model_type)
    assert model.read(1, 0, PROMPT[:8], is_last=False) is None
    first = model.read(1, 8, PROMPT[8:])
    out = model.steps([1], 5, top=3)
    said = [first, *(int(step[1]) for step in out.tokens)]
    assert said == greedy(model, PROMPT, 6)
    rows = model.reference(PROMPT + said)[len(PROMPT) : -1]
    np.testing.assert_allclose(out.log_probabilities[:, 1], rows.max(axis=-1), atol=2e-3)
    tops, values = out.top
    np.testing.assert_array_equal(tops[:, 1, 0], said[1:])
    np.testing.assert_allclose(values[:, 1], -np.sort(-rows)[:, :3], atol=2e-3)


def test_slots_do_not_hear_each_other(model: TinyJaxModel) -> None:
    first = [model.read(0, 0, OTHER), *spoken(model, [0], 2)[0]]
    model.read(2, 0, PROMPT[:8], is_last=False)
    first += spoken(model, [0], 1)[0]
    second = [model.read(2, 8, PROMPT[8:])]
    both = spoken(model, [0, 2], 3)
    assert first + both[0] == greedy(model, OTHER, 7)
    assert second + both[2] == greedy(model, PROMPT, 4)


def test_a_cache_may_grow_shrink_and_be_copied_under_a_text(model: TinyJaxModel) -> None:
    model.clear(16)
    model.read(0, 0, PROMPT[:8], is_last=False)
    model.cache = with_length(copied(model.cache, 0, 1), LENGTH)
    said = [model.read(1, 8, PROMPT[8:]), *spoken(model, [1], 2)[1]]
    model.cache = with_length(model.cache, 20)
    assert said + spoken(model, [1], 2)[1] == greedy(model, PROMPT, 5)


def test_nothing_is_copied_that_was_given_away(model: TinyJaxModel) -> None:
    before = {array.unsafe_buffer_pointer() for pair in model.cache for array in pair}
    held = model.cache[0][0]
    model.read(0, 0, OTHER)
    spoken(model, [0], 2)
    assert held.is_deleted()
    assert {array.unsafe_buffer_pointer() for pair in model.cache for array in pair} == before


def test_a_seed_says_the_same_in_any_batch(model: TinyJaxModel) -> None:
    rules = one_slots_rules(1.5, 0.9, 50, 0.0, 7)
    alone = [model.read(0, 0, OTHER, rules=rules), *spoken(model, [0], 6, draws=True)[0]]
    model.clear(LENGTH)
    model.read(0, 0, PROMPT[:8])
    among = [model.read(2, 0, OTHER, rules=rules), *spoken(model, [0, 2], 6, draws=True)[2]]
    assert alone == among
    assert alone != greedy(model, OTHER, 7)
