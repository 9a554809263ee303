"""What the gateway holds against a key for a while, because a policy took its use for abuse."""

from typing import Literal

from msgspec import Struct

AbuseAction = Literal["alert", "slow_down", "block"]


class KeyRestriction(Struct, frozen=True, kw_only=True):
    """One key, until when it is slowed down or blocked, and by which policy."""

    key: str
    action: AbuseAction
    policy: str
    until_at: float  # seconds since the epoch
    requests_per_minute: int = 0  # of a key that is slowed down, over all workers of a gateway
