"""How often guards, caches and cascades did something, as metrics count it."""

from msgspec import Struct


class PolicyCount(Struct, frozen=True):
    """How much one metric has grown, for one set of its labels."""

    meter: str
    labels: tuple[str, ...]
    amount: float
