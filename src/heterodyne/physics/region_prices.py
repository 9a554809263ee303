"""What chips cost in one region and another, read only when a plan asks for a region."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from heterodyne.physics.hardware import ChipPrice

SOURCE = "sky"


class _Listed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One price of one seller, and where it holds."""

    provider: str
    usd_per_hour: float
    day: str
    regions: tuple[str, ...]
    is_spot: bool = False
    is_accelerator_only: bool = False

    def prices(self) -> tuple[ChipPrice, ...]:
        """One for each region."""
        return tuple(
            ChipPrice(
                provider=self.provider,
                usd_per_hour=self.usd_per_hour,
                is_spot=self.is_spot,
                is_accelerator_only=self.is_accelerator_only,
                day=self.day,
                source=SOURCE,
                region=region,
            )
            for region in self.regions
        )


@cache
def region_prices() -> Mapping[str, tuple[ChipPrice, ...]]:
    """Of every accelerator, by name."""
    text = files("heterodyne.physics").joinpath("data", "regions.toml").read_text(encoding="utf-8")
    tables = msgspec.convert(tomllib.loads(text), dict[str, dict[str, tuple[_Listed, ...]]])
    return {name: tuple(one for row in table["prices"] for one in row.prices()) for name, table in tables.items()}
