"""Pure: what a replica of a pool costs: what its settings say, else the lowest price of its hardware."""

from typing import Protocol

from heterodyne.domain.fleet import Price
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.hardware.ranking import lowest_price


class Priced(Protocol):
    """What a pool says of its price, in a settings file or in one to simulate."""

    @property
    def tp(self) -> int: ...
    @property
    def price_usd_per_hour(self) -> float | None: ...
    @property
    def price_usd_per_million_prompt_tokens(self) -> float | None: ...
    @property
    def price_usd_per_million_completion_tokens(self) -> float | None: ...


def replica_price(pool: Priced, chip: Accelerator | None) -> Price:
    """The price of one replica, all its chips; an empty one where it is not known."""
    said = Price(
        usd_per_hour=pool.price_usd_per_hour,
        usd_per_million_prompt_tokens=pool.price_usd_per_million_prompt_tokens,
        usd_per_million_completion_tokens=pool.price_usd_per_million_completion_tokens,
    )
    if said != Price() or chip is None:
        return said
    lowest = lowest_price(chip)
    return said if lowest is None else Price(usd_per_hour=lowest.usd_per_hour * pool.tp)
