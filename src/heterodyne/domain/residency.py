"""Pure: where the words of whoever is held to regions may be computed, and where they may rest.

A place that does not say its regions is taken to be where the gateway is, which whoever asks it has chosen. One that
names several keeps everything in each of them, so all have to be allowed.
"""

from collections.abc import Sequence

from heterodyne.domain.fleet import Replica

Regions = frozenset[str]


def may_rest(allowed: Regions | None, regions: Sequence[str]) -> bool:
    """Whether a place in these regions may keep it; `allowed` is None for those who may be anywhere."""
    return allowed is None or not regions or allowed.issuperset(regions)


def may_answer(allowed: Regions, replica: Replica) -> bool:
    """Whether a replica may be sent it: it has to be there itself, and so has the store that its engine fills with KV.

    A replica that says no region is in none.
    """
    return replica.region in allowed and may_rest(allowed, replica.kv_store_regions)
