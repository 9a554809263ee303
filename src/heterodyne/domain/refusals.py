"""How often requests were refused before any replica was asked, by who asked and why."""

from msgspec import Struct


class RefusalRow(Struct, frozen=True, kw_only=True):
    """One project and one reason."""

    project: str
    reason: str  # an error's code
    requests: int
