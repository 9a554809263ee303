"""A link that becomes slower, faster, or silent while the fleet serves, unknown to the router."""

from msgspec import Struct


class LinkChange(Struct, frozen=True, kw_only=True):
    """Of every replica of a pool, or of a store."""

    at_s: float
    name: str  # of a pool or a store
    slowdown: float  # from then on, of what it was at first; infinite: nothing comes through
