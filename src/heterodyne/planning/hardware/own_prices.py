"""The catalogue as this operator sees it: his own prices, the sellers and regions he uses, only what comes in time."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import unknown_name
from heterodyne.physics.catalogue import SETTINGS
from heterodyne.physics.hardware import Accelerator, ChipPrice

OWN, SPOT = "you", "spot"


class OwnPrice(Struct, frozen=True, kw_only=True):
    """What the operator pays for a chip and an hour, on demand."""

    accelerator: str
    usd_per_hour: float
    region: str | None = None  # None: wherever he is


def with_own_prices(
    catalogue: Mapping[str, Accelerator], prices: Sequence[OwnPrice], providers: Collection[str]
) -> Mapping[str, Accelerator]:
    """Own prices go before all others of their chip, or of their chip in their region; no providers are all of them."""
    known = sorted({price.provider for chip in catalogue.values() for price in chip.prices})
    for name in providers:
        if name not in known:
            raise unknown_name("provider", name, known)
    changed = {}
    for name, chip in catalogue.items():
        sold = tuple(one for one in chip.prices if not providers or one.provider in providers)
        own = tuple(_as_listed(one) for one in prices if one.accelerator == name)
        rest = (one for one in sold if one.is_spot or not any(own_one.region in (None, one.region) for own_one in own))
        changed[name] = structs.replace(chip, prices=(*own, *rest))
    return changed


def with_regions(
    catalogue: Mapping[str, Accelerator], by_region: Mapping[str, Sequence[ChipPrice]]
) -> Mapping[str, Accelerator]:
    """With what sellers ask region by region, where that is known, in place of the least they ask anywhere."""
    changed = {}
    for name, chip in catalogue.items():
        is_own = any(one.source == SETTINGS for one in chip.prices)  # the operator said what there is
        known = () if is_own else tuple(by_region.get(name, ()))
        sellers = {one.provider for one in known}
        rest = tuple(one for one in chip.prices if one.provider not in sellers)
        changed[name] = structs.replace(chip, prices=(*rest, *known))
    return changed


def in_regions(catalogue: Mapping[str, Accelerator], regions: Collection[str]) -> Mapping[str, Accelerator]:
    """Only what may be had there: a region is named in full or by how it begins.

    An operator's prices without a region hold wherever he is.
    """
    known = sorted({one.region for chip in catalogue.values() for one in chip.prices if one.region is not None})
    for word in regions:
        if not any(_is_in(region, word) for region in known):
            raise unknown_name("region", word, known)
    return {
        name: structs.replace(
            chip, prices=tuple(one for one in chip.prices if any(_holds_in(one, word) for word in regions))
        )
        for name, chip in catalogue.items()
    }


def at_spot_prices(
    catalogue: Mapping[str, Accelerator], missing_shares: Mapping[str, float]
) -> Mapping[str, Accelerator]:
    """Only spot capacity, at what an hour costs in which it is there: it is taken back for a share of the time."""
    changed = {}
    for name, chip in catalogue.items():
        there = 1.0 - missing_shares.get(name, 0.0)
        spot = (one for one in chip.prices if one.is_spot)
        prices = tuple(
            structs.replace(
                one, is_spot=False, usd_per_hour=one.usd_per_hour / there, provider=f"{one.provider} {SPOT}"
            )
            for one in spot
        )
        changed[name] = structs.replace(chip, prices=prices)
    return changed


def in_time(
    catalogue: Mapping[str, Accelerator], lead_days: Mapping[str, float], needed_in_days: float | None
) -> Mapping[str, Accelerator]:
    """Without those that come too late; what nobody gave a lead time for is there at once."""
    if needed_in_days is None:
        return catalogue
    return {name: chip for name, chip in catalogue.items() if lead_days.get(name, 0.0) <= needed_in_days}


def _as_listed(own: OwnPrice) -> ChipPrice:
    if not own.usd_per_hour >= 0:
        raise InvalidSpec(f"price: {own.usd_per_hour:g} USD an hour for {own.accelerator} is no price.")
    return ChipPrice(provider=OWN, usd_per_hour=own.usd_per_hour, day="", source=SETTINGS, region=own.region)


def _holds_in(price: ChipPrice, word: str) -> bool:
    return price.source == SETTINGS if price.region is None else _is_in(price.region, word)


def _is_in(region: str, word: str) -> bool:
    return region.lower().startswith(word.lower())
