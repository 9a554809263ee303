"""Where one request goes, and why."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.fleet import Replica


class Reason(StrEnum):
    """A word the dashboard can show."""

    ONLY_REPLICA = "only_replica"
    LEAST_LOADED = "least_loaded"


class Decision(Struct, frozen=True, kw_only=True):
    """The chosen target."""

    target: Replica
    reason: Reason
