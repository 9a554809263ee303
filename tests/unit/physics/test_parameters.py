"""Parameters counted from shapes are what the makers publish."""

import pytest

from heterodyne.domain.errors import UnknownName
from heterodyne.physics.model_shapes import hugging_face_ids, model_spec, model_specs
from heterodyne.physics.parameters import parameters

MIXTURES = [spec for spec in model_specs().values() if spec.experts]


@pytest.mark.parametrize("spec", model_specs().values(), ids=lambda spec: spec.name)
def test_the_total_is_the_published_one(spec) -> None:
    assert parameters(spec).total == pytest.approx(spec.published_parameters, rel=0.002)


@pytest.mark.parametrize("spec", MIXTURES, ids=lambda spec: spec.name)
def test_the_active_ones_of_a_mixture_are_the_published_ones(spec) -> None:
    count = parameters(spec)
    # OpenAI leaves the input embedding out, the others leave it in.
    active = count.multiplied if spec.name.startswith("gpt-oss") else count.active
    assert active == pytest.approx(spec.published_active_parameters, rel=0.02)


def test_in_a_dense_model_every_parameter_is_active() -> None:
    count = parameters(model_spec("llama-3.1-8b"))
    assert count.active == count.total == 8_030_261_248
    assert count.multiplied == count.total - 128_256 * 4096


def test_a_tied_head_is_stored_once_and_multiplied() -> None:
    count = parameters(model_spec("smollm2-135m"))
    assert count.head == 0
    assert count.multiplied == count.total == 134_515_008


def test_models_are_found_by_name_and_by_hugging_face_id() -> None:
    assert model_spec("Qwen/Qwen3-32B") is model_spec("qwen3-32b")
    assert "deepseek-ai/deepseek-r1" in hugging_face_ids("deepseek-r1")
    with pytest.raises(UnknownName, match=r'no model "lama-3\.1-8b"; did you mean "llama-3.1-8b"'):
        model_spec("lama-3.1-8b")
