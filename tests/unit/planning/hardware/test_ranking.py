"""Which accelerators serve a model within its targets, and in what order."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.ranking import HardwareRequirements, best_per_accelerator, lowest_price, rank_hardware

WISH = HardwareRequirements(model=model_spec("llama-3.1-70b"), precision=Precision.FP8, slo=Slo(ttft_s=0.5, itl_s=0.05))


def test_the_cheapest_comes_first_and_those_without_a_price_last() -> None:
    prices = [choice.usd_per_million_tokens for choice in rank_hardware(WISH, accelerators()).choices]
    known = [price for price in prices if price is not None]
    assert known == sorted(known)
    assert prices[: len(known)] == known


def test_every_choice_keeps_the_targets_and_carries_the_traffic() -> None:
    requirements = structs.replace(WISH, requests_per_s=12.0)
    for choice in rank_hardware(requirements, accelerators()).choices:
        assert choice.served.ttft_s <= requirements.slo.ttft_s
        assert choice.served.itl_s <= requirements.slo.itl_s
        assert choice.replicas * choice.served.requests_per_s >= requirements.requests_per_s


def test_a_chip_too_small_alone_is_refused_and_chosen_in_a_group() -> None:
    ranking = rank_hardware(WISH, {"h100-sxm": accelerator("h100-sxm")})
    assert ("h100-sxm", 1, "does not fit") in {(one.accelerator, one.tp, one.reason) for one in ranking.refused}
    assert 2 in {choice.tp for choice in ranking.choices}


def test_a_target_nobody_keeps_leaves_only_refusals() -> None:
    ranking = rank_hardware(structs.replace(WISH, slo=Slo(ttft_s=1e-4, itl_s=1e-6)), accelerators())
    assert not ranking.choices
    assert ranking.refused


def test_of_each_accelerator_the_cheapest_width_is_kept() -> None:
    ranking = rank_hardware(WISH, accelerators())
    best = list(best_per_accelerator(ranking.choices))
    assert len(best) == len({choice.accelerator for choice in ranking.choices})


def test_spot_and_partial_prices_do_not_rank_a_chip() -> None:
    price = lowest_price(accelerator("h100-sxm"))
    assert price is not None
    assert not price.is_spot
    assert not price.is_accelerator_only


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"prompt_tokens": 0}, "prompt_tokens: 0"),
        ({"requests_per_s": -1.0}, "requests_per_s: -1"),
        ({"slo": Slo(ttft_s=0.0, itl_s=1.0)}, "above zero"),
        ({"prompt_tokens": 10**6}, "over the context of llama-3.1-70b"),
    ],
)
def test_nonsense_is_refused_with_its_place(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidSpec, match=says):
        rank_hardware(structs.replace(WISH, **changes), accelerators())
