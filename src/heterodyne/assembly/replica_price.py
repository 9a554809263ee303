"""What a replica of a pool costs: what the settings say, else the lowest price of its hardware."""

from collections.abc import Mapping

from heterodyne.domain.fleet import Price
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.hardware_choice import lowest_price


def replica_price(pool: PoolSettings, catalogue: Mapping[str, Accelerator]) -> Price:
    """The price of one replica, all its chips; an empty one where nobody says."""
    said = Price(
        usd_per_hour=pool.price_usd_per_hour,
        usd_per_million_prompt_tokens=pool.price_usd_per_million_prompt_tokens,
        usd_per_million_completion_tokens=pool.price_usd_per_million_completion_tokens,
    )
    if said != Price() or pool.hardware is None:
        return said
    lowest = lowest_price(accelerator(pool.hardware, catalogue))
    return said if lowest is None else Price(usd_per_hour=lowest.usd_per_hour * pool.tp)
