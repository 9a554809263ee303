"""Which accelerators serve a model within its targets, and in what order."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.physics.step_time import Speculation
from heterodyne.planning.hardware.ranking import (
    HardwareRequirements,
    best_per_accelerator,
    lowest_price,
    nearest_misses,
    rank_hardware,
)

WISH = HardwareRequirements(model=model_spec("llama-3.1-70b"), precision=Precision.FP8, slo=Slo(ttft_s=0.5, itl_s=0.05))


def test_the_cheapest_comes_first_and_those_without_a_price_last() -> None:
    prices = [choice.usd_per_million_tokens for choice in rank_hardware(WISH, accelerators()).choices]
    known = [price for price in prices if price is not None]
    assert known == sorted(known)
    assert prices[: len(known)] == known


def test_every_choice_keeps_the_promise_and_carries_the_traffic() -> None:
    requirements = structs.replace(WISH, requests_per_s=12.0)
    for choice in rank_hardware(requirements, accelerators()).choices:
        assert choice.load.kept_share >= requirements.share
        assert choice.load.ttft.p99_s <= requirements.slo.ttft_s
        assert choice.load.itl.p99_s <= requirements.slo.itl_s
        assert choice.replicas * choice.load.requests_per_s >= requirements.requests_per_s


def test_more_load_costs_less_a_token_and_breaks_more_promises() -> None:
    choice = rank_hardware(WISH, accelerators()).choices[0]
    prices = [at.usd_per_million_tokens or 0.0 for at in choice.curve]
    kept = [at.kept_share for at in choice.curve]
    assert prices == sorted(prices, reverse=True)
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] < WISH.share < kept[0]


def test_cards_without_a_link_of_their_own_are_taken_several_at_a_time() -> None:
    requirements = structs.replace(WISH, slo=Slo(ttft_s=3.0, itl_s=0.2))
    widths = {(one.accelerator, one.tp) for one in rank_hardware(requirements, accelerators()).choices}
    assert {("l40s", 4), ("l4", 8), ("a100-pcie", 4)} <= widths


def test_chips_are_taken_in_the_numbers_they_are_sold_in() -> None:
    ranking = rank_hardware(structs.replace(WISH, slo=Slo(ttft_s=3.0, itl_s=0.2)), accelerators())
    tried = {one.tp for one in (*ranking.choices, *ranking.refused) if one.accelerator == "tpu-v5e"}
    assert tried == {1, 4, 8}


def test_guessing_ahead_carries_more_where_tokens_bind() -> None:
    requirements = structs.replace(WISH, slo=Slo(ttft_s=2.0, itl_s=0.02))
    chips = {"h100-sxm": accelerator("h100-sxm")}
    plain = {one.tp: one.load for one in rank_hardware(requirements, chips).choices}
    guess = structs.replace(requirements, speculation=Speculation(draft_tokens=3, acceptance=0.8))
    guessed = {one.tp: one.load for one in rank_hardware(guess, chips).choices}
    assert guessed[8].requests_per_s > plain[8].requests_per_s


def test_a_chip_too_small_alone_is_refused_and_chosen_in_a_group() -> None:
    ranking = rank_hardware(WISH, {"h100-sxm": accelerator("h100-sxm")})
    assert ("h100-sxm", 1, "does not fit") in {(one.accelerator, one.tp, one.reason) for one in ranking.refused}
    assert 2 in {choice.tp for choice in ranking.choices}


def test_a_target_nobody_keeps_leaves_only_refusals() -> None:
    ranking = rank_hardware(structs.replace(WISH, slo=Slo(ttft_s=1e-4, itl_s=1e-6)), accelerators())
    assert not ranking.choices
    nearest = nearest_misses(ranking.refused, Slo(ttft_s=1e-4, itl_s=1e-6))
    assert "promised" in nearest[0].reason
    assert len(nearest) == len({one.accelerator for one in nearest})


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
        ({"share": 1.0}, "share: 1 is not between"),
        ({"prompt_tokens": 10**6}, "over the context of llama-3.1-70b"),
    ],
)
def test_nonsense_is_refused_with_its_place(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidSpec, match=says):
        rank_hardware(structs.replace(WISH, **changes), accelerators())
