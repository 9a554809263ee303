"""How the gateways of a simulation tell each other what they do."""

from math import inf

from msgspec import Struct


class Sharing(Struct, frozen=True, kw_only=True):
    """As through a store that all of them reach."""

    interval_s: float = 0.1  # between two turns of one gateway
    delay_s: float = 0.01  # until what one has left can be read by others
    away_from_s: float = inf  # the store does not answer from here
    away_until_s: float = inf
