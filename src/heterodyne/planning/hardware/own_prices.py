"""The catalogue as this operator sees it: his own prices, only the sellers he uses, only what comes in time."""

from collections.abc import Collection, Mapping

from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import unknown_name
from heterodyne.physics.hardware import Accelerator, ChipPrice

OWN = "you"


def with_own_prices(
    catalogue: Mapping[str, Accelerator], prices: Mapping[str, float], providers: Collection[str]
) -> Mapping[str, Accelerator]:
    """`prices` are by chip and hour, on demand, and go before all others; no providers are all of them."""
    known = sorted({price.provider for chip in catalogue.values() for price in chip.prices})
    for name in providers:
        if name not in known:
            raise unknown_name("provider", name, known)
    changed = {}
    for name, chip in catalogue.items():
        sold = tuple(one for one in chip.prices if not providers or one.provider in providers)
        if name in prices:
            if not prices[name] >= 0:
                raise InvalidSpec(f"price: {prices[name]:g} USD an hour for {name} is no price.")
            own = ChipPrice(provider=OWN, usd_per_hour=prices[name], day="", source="settings")
            sold = (own, *(one for one in sold if one.is_spot))
        changed[name] = structs.replace(chip, prices=sold)
    return changed


def in_time(
    catalogue: Mapping[str, Accelerator], lead_days: Mapping[str, float], needed_in_days: float | None
) -> Mapping[str, Accelerator]:
    """Without those that come too late; what nobody gave a lead time for is there at once."""
    if needed_in_days is None:
        return catalogue
    return {name: chip for name, chip in catalogue.items() if lead_days.get(name, 0.0) <= needed_in_days}
