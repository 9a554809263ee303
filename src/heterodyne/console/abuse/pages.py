"""What an operator sees of abuse."""

from msgspec import Struct

from heterodyne.domain.key_restriction import AbuseAction


class AbuseCase(Struct, frozen=True, kw_only=True):
    """One key that one policy has found, until it is lifted or over."""

    key: str
    project: str
    policy: str
    watch: str
    rule: str
    action: AbuseAction
    found_at: float  # seconds since the epoch
    until_at: float
    detail: str  # in figures, never words of a prompt
    requests_per_minute: int = 0  # of a key that is slowed down


class AbusePage(Struct, frozen=True, kw_only=True):
    """All that hold, the latest first."""

    cases: tuple[AbuseCase, ...]
    is_on: bool  # whether there are policies


class Lifted(Struct, frozen=True, kw_only=True):
    """What was lifted, and whether every worker works by that."""

    cases: tuple[AbuseCase, ...]
    quiet_until_at: float  # the same policies do not find the key again before
    is_applied: bool
