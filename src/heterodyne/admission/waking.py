"""Pure: requests for a model that may have no replica are held while one starts, if they have the time."""

from math import ceil

from heterodyne.domain.errors import NotInTime
from heterodyne.domain.fleet import FleetSnapshot, Wake


def try_wake(fleet: FleetSnapshot, model: str) -> Wake | None:
    """Of a model none of whose replicas is ready, when one will be; None: nobody waits for it."""
    rule = fleet.rules.get(model)
    if rule is None or rule.wake is None:
        return None
    return None if any(one.is_takeable for one in fleet.by_model.get(model, ())) else rule.wake


def check_awake_in_time(wake: Wake, deadline_s: float, now_s: float) -> None:
    """Raise `NotInTime`, with when a replica is expected, where that is after the deadline."""
    told_s = wake.wait_s(now_s)
    if now_s + told_s > deadline_s:
        raise NotInTime(
            f"No replica runs now; the first is expected in {told_s:.0f} s, after the deadline.",
            retry_after_s=ceil(told_s),
        )
