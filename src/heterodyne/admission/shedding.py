"""Pure: who gives way as the fleet and its queue fill: bronze early, silver late, gold only to the queue's bound.

Only interactive requests are shed. Batch and background work is never refused in anybody's favour: it comes after them
anyway, waiting is what it can do best, and the bound of its own queue ends it.
"""

from heterodyne.domain.errors import Shed
from heterodyne.domain.urgency import Tier, Urgency

FLEET_SHARE = 0.5  # of saturation: below it is the fleet filling, above it its queue

# Saturation from which a tier is shed at all, and from which always. With a full fleet, bronze has the first half of
# the queue, silver nine tenths of it, and the last tenth is gold's. The same holds of the time that was promised:
# bronze joins a queue of half of it at most, so that what gold has to wait for stays well within it.
RAMPS: dict[Tier, tuple[float, float]] = {Tier.BRONZE: (0.55, 0.75), Tier.SILVER: (0.75, 0.95)}


def saturation(*, load: float, queue_fill: float) -> float:
    """How full the fleet and its queue are together; 1 when both are, more where engines have more than they can hold.

    `load` is the share of slots or KV memory in use, `queue_fill` the share of the queue's places that are taken, or
    its wait as a share of the time to the first token that was promised, whichever is more.
    """
    return FLEET_SHARE * max(0.0, load) + (1.0 - FLEET_SHARE) * max(0.0, queue_fill)


def shed_probability(tier: Tier, saturation: float) -> float:
    """On a straight line from never to always."""
    ramp = RAMPS.get(tier)
    if ramp is None:
        return 0.0
    never, always = ramp
    return min(1.0, max(0.0, (saturation - never) / (always - never)))


def check_shed(tier: Tier, urgency: Urgency, *, saturation: float, chance: float, retry_after_s: int) -> None:
    """Raise `Shed` where the lot falls on the request; `chance` is uniform in [0, 1)."""
    if urgency is Urgency.INTERACTIVE and chance < shed_probability(tier, saturation):
        raise Shed(
            f"The fleet and its queue are {100 * saturation:.0f} % full, and {tier.value} requests give way; "
            "try again later, or as batch work, which waits instead.",
            retry_after_s=retry_after_s,
        )
