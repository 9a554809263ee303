"""What limits mean while their counters cannot be reached."""

from enum import StrEnum


class WhenUnreachable(StrEnum):
    """Declared by the operator."""

    OPEN = "open"  # each worker allows its part of every limit, and reports it later
    CLOSED = "closed"  # what the leases at hand do not cover is refused
