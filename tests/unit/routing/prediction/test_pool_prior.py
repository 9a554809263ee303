"""The prior of a pool, as far as the catalogues know it."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerators
from heterodyne.routing.prediction.pool_prior import layout_of, prior_for, try_prior

LLAMA = PoolSettings(model="llama-3.1-8b", engine="vllm", hardware="h100-sxm")


def test_a_known_model_on_a_known_chip_has_one() -> None:
    prior = try_prior(LLAMA, accelerators())
    assert prior is not None
    assert 0.002 < prior.step_s < 0.02
    assert 100_000 < prior.kv_tokens < 1_000_000


def test_a_chip_with_more_bandwidth_steps_sooner() -> None:
    slow, fast = (try_prior(structs.replace(LLAMA, hardware=chip), accelerators()) for chip in ("l40s", "h200-sxm"))
    assert slow is not None
    assert fast is not None
    assert fast.step_s < slow.step_s


@pytest.mark.parametrize(
    "unknown",
    [{"hardware": None}, {"hardware": "h900"}, {"model": "something-of-ours"}, {"model": "llama-3.1-405b"}],
)
def test_where_a_fact_is_missing_or_nothing_fits_there_is_none(unknown: dict[str, str | None]) -> None:
    assert try_prior(structs.replace(LLAMA, **unknown), accelerators()) is None


def test_a_model_of_ours_is_known_by_the_shape_it_has() -> None:
    ours = structs.replace(LLAMA, model="support-bot", shape="llama-3.1-8b")
    assert try_prior(ours, accelerators()) == try_prior(LLAMA, accelerators())


def test_an_engine_without_numbers_of_its_own_is_taken_for_vllm() -> None:
    assert try_prior(structs.replace(LLAMA, engine="tgi"), accelerators()) == try_prior(LLAMA, accelerators())


def test_what_is_wrong_is_said_where_somebody_asks() -> None:
    with pytest.raises(UnknownName, match="h100"):
        layout_of(structs.replace(LLAMA, hardware="h100-smx"), accelerators())
    large = structs.replace(LLAMA, model="llama-3.1-405b")
    with pytest.raises(InvalidSpec, match="does not fit"):
        prior_for(layout_of(large, accelerators()), (), context_tokens=4096)


def test_less_is_believed_of_a_chip_that_nobody_has_measured() -> None:
    measured = try_prior(LLAMA, accelerators())
    guessed = try_prior(structs.replace(LLAMA, hardware="gaudi3"), accelerators())
    assert measured is not None
    assert guessed is not None
    assert measured.doubt < guessed.doubt
