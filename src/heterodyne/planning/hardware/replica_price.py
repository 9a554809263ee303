"""Pure: what a replica of a pool costs: what its settings say, else the lowest price of its hardware."""

from typing import Protocol

from heterodyne.domain.price import Price
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.hardware.ranking import lowest_price


class Priced(Protocol):
    """What a pool says of its price, in a settings file or in one to simulate: `price_` and a field of Price."""

    @property
    def tp(self) -> int: ...
    @property
    def price_usd_per_hour(self) -> float | None: ...
    @property
    def price_usd_per_million_prompt_tokens(self) -> float | None: ...
    @property
    def price_usd_per_million_completion_tokens(self) -> float | None: ...
    @property
    def price_usd_per_million_cached_tokens(self) -> float | None: ...
    @property
    def price_usd_per_million_cache_write_tokens(self) -> float | None: ...
    @property
    def price_long_prompt_tokens(self) -> int | None: ...
    @property
    def price_long_usd_per_million_prompt_tokens(self) -> float | None: ...
    @property
    def price_long_usd_per_million_completion_tokens(self) -> float | None: ...
    @property
    def price_long_usd_per_million_cached_tokens(self) -> float | None: ...
    @property
    def price_long_usd_per_million_cache_write_tokens(self) -> float | None: ...


def replica_price(pool: Priced, chip: Accelerator | None) -> Price:
    """The price of one replica, all its chips; an empty one where it is not known."""
    said = Price(**{name: getattr(pool, f"price_{name}") for name in Price.__struct_fields__})
    if said != Price() or chip is None:
        return said
    lowest = lowest_price(chip)
    return said if lowest is None else Price(usd_per_hour=lowest.usd_per_hour * pool.tp)
