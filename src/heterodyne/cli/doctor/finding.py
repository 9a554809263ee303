"""One thing the doctor looked at."""

from enum import StrEnum

from msgspec import Struct


class FindingState(StrEnum):
    """How serious a finding is."""

    GOOD = "good"
    NOTE = "note"  # worth knowing, nothing to do
    WARNING = "warning"  # serving works, not as well as it could
    BLOCKER = "blocker"  # serving will not work


class DoctorFinding(Struct, frozen=True, kw_only=True):
    """What was looked at, what was seen, and what to do about it."""

    topic: str
    name: str
    state: FindingState
    value: str
    advice: str | None = None  # None: nothing to do
