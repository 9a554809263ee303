"""What chips cost here: own prices, sellers, regions."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.physics.catalogue import SETTINGS, accelerator, accelerators
from heterodyne.physics.hardware import Accelerator, ChipPrice
from heterodyne.physics.region_prices import region_prices
from heterodyne.planning.hardware.own_prices import OwnPrice, at_spot_prices, in_regions, with_own_prices, with_regions
from heterodyne.planning.hardware.ranking import lowest_price

H100 = accelerator("h100-sxm")
CATALOGUE = {"h100-sxm": H100}


def usd(chip: Accelerator) -> float | None:
    lowest = lowest_price(chip)
    return None if lowest is None else lowest.usd_per_hour


def listed(provider: str, usd_per_hour: float, region: str | None) -> ChipPrice:
    return ChipPrice(provider=provider, usd_per_hour=usd_per_hour, day="2026-08-22", source="sky", region=region)


def test_an_own_price_goes_before_all_others() -> None:
    own = with_own_prices(CATALOGUE, [OwnPrice(accelerator="h100-sxm", usd_per_hour=5.0)], ())
    assert usd(own["h100-sxm"]) == 5.0
    assert any(one.is_spot for one in own["h100-sxm"].prices)


def test_an_own_price_of_a_region_leaves_those_of_others() -> None:
    by_region = {"h100-sxm": (listed("aws", 6.0, "eu-west-1"), listed("aws", 4.0, "us-east-1"))}
    own = [OwnPrice(accelerator="h100-sxm", usd_per_hour=5.0, region="eu-west-1")]
    chips = with_own_prices(with_regions(CATALOGUE, by_region), own, ())
    assert usd(in_regions(chips, ["eu-west-1"])["h100-sxm"]) == 5.0
    assert usd(in_regions(chips, ["us-east-1"])["h100-sxm"]) == 4.0


def test_a_region_is_named_in_full_or_by_how_it_begins() -> None:
    by_region = {"h100-sxm": (listed("aws", 6.0, "eu-west-1"), listed("nebius", 4.0, "eu-north1"))}
    chips = with_regions(CATALOGUE, by_region)
    assert usd(in_regions(chips, ["eu"])["h100-sxm"]) == 4.0
    assert usd(in_regions(chips, ["EU-WEST-1"])["h100-sxm"]) == 6.0
    with pytest.raises(UnknownName, match="eu-west-1"):
        in_regions(chips, ["eu-west-2"])


def test_a_price_that_names_no_region_is_none_of_any_but_the_operator_s() -> None:
    by_region = {"h100-sxm": (listed("aws", 6.0, "eu-west-1"),)}
    assert usd(in_regions(with_regions(CATALOGUE, by_region), ["eu"])["h100-sxm"]) == 6.0
    own = with_own_prices(with_regions(CATALOGUE, by_region), [OwnPrice(accelerator="h100-sxm", usd_per_hour=7.0)], ())
    assert (
        usd(in_regions({**own, "other": structs.replace(H100, prices=by_region["h100-sxm"])}, ["eu"])["h100-sxm"])
        == 7.0
    )


def test_prices_of_the_settings_stay_what_they_are() -> None:
    mine = structs.replace(H100, prices=(structs.replace(listed("aws", 3.0, None), source=SETTINGS),))
    by_region = {"h100-sxm": (listed("aws", 6.0, "eu-west-1"),)}
    assert with_regions({"h100-sxm": mine}, by_region)["h100-sxm"] == mine


def test_a_negative_price_is_refused() -> None:
    with pytest.raises(InvalidSpec, match="no price"):
        with_own_prices(CATALOGUE, [OwnPrice(accelerator="h100-sxm", usd_per_hour=-1.0)], ())


def test_the_least_of_a_seller_s_regions_is_the_catalogue_s_price() -> None:
    chips, by_region = accelerators(), region_prices()
    assert by_region.keys() <= chips.keys()
    for name, prices in by_region.items():
        least: dict[str, float] = {}
        for one in prices:
            if not one.is_spot:
                least[one.provider] = min(least.get(one.provider, one.usd_per_hour), one.usd_per_hour)
        known = {one.provider: one.usd_per_hour for one in chips[name].prices if not one.is_spot}
        for provider, lowest in least.items():
            assert lowest == pytest.approx(known[provider], abs=0.011), (name, provider)


def test_spot_capacity_costs_more_the_longer_it_is_missing() -> None:
    spot = lowest_price(H100, is_spot=True)
    assert spot is not None
    stays, shaky = at_spot_prices(CATALOGUE, {}), at_spot_prices(CATALOGUE, {"h100-sxm": 0.2})
    assert usd(stays["h100-sxm"]) == spot.usd_per_hour
    assert usd(shaky["h100-sxm"]) == pytest.approx(spot.usd_per_hour / 0.8)
    assert all("spot" in one.seller for one in shaky["h100-sxm"].prices)
