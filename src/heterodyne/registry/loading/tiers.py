"""Where the artifacts that a machine uses lie, besides the place where all machines find them."""

from msgspec import Struct

from heterodyne.registry.loading.disk_tier import DiskTier
from heterodyne.registry.loading.ram_tier import RamTier


class Tiers(Struct, frozen=True, kw_only=True):
    """The fastest first."""

    ram: RamTier | None = None
    disk: DiskTier | None = None  # None: the disk is where all is kept


NO_TIERS = Tiers()
