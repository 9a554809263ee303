"""What a policy has found of a key."""

from msgspec import Struct


class AbuseFinding(Struct, frozen=True, kw_only=True):
    """One key, and the figures that it was found by."""

    policy: str
    watch: str
    rule: str
    key: str
    project: str
    at: float  # seconds since the epoch
    detail: str  # in figures; never words of a prompt
