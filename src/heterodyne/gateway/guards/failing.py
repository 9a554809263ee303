"""What follows when a guard itself fails: what only flags lets the text pass, what masks or blocks does not.

Policies that ask a guard elsewhere declare it, and may let pass what they would block.
"""

from typing import get_args

from heterodyne.domain.guard_verdict import Direction
from heterodyne.telemetry import log, metrics

_log = log.get("gateway")


def count_from_nothing() -> None:
    """A counter that first appears with a failure has not increased, for whoever watches it."""
    for direction in get_args(Direction):
        metrics.guard_failures.add((direction,), 0.0)


def failed(request_id: str, direction: Direction, error: Exception, *, policy: str = "", reason: str = "") -> None:
    """Write it down where somebody looks; of a guard elsewhere, which policy asks it and why it gave no verdict."""
    metrics.guard_failures.add((direction,))
    if policy:  # nobody here has made a mistake
        _log.error("guard_failed", request_id=request_id, direction=direction, policy=policy, reason=reason)
    else:
        _log.error("guard_failed", request_id=request_id, direction=direction, exc_info=error)
