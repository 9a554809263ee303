"""Leaves out kinds that no cheapest mix needs, so that the programme stays small.

A kind goes when another of its role does everything it does for no more money, alone or several in its place. What is
left has the same optimum: replacing one by the other keeps every promise and costs no more.
"""

from collections.abc import Sequence

from heterodyne.planning.mix.problem import ReplicaKind, Stock

TOLERANCE = 1e-9


def without_dominated(kinds: Sequence[ReplicaKind], stocks: Sequence[Stock]) -> tuple[ReplicaKind, ...]:
    """The kinds worth asking about, in their order."""
    limited = {stock.name for stock in stocks if stock.available is not None}
    wanted = {stock.name for stock in stocks if stock.minimum}
    replacing = [kind for kind in kinds if kind.available is None and kind.stock not in limited]
    kept = list(kinds)
    for kind in kinds:
        is_free = not kind.minimum and kind.stock not in wanted
        if is_free and any(_replaces(other, kind) for other in replacing if other is not kind and other in kept):
            kept.remove(kind)
    return tuple(kept)


def _replaces(one: ReplicaKind, other: ReplicaKind) -> bool:
    if (one.role, one.handoff) != (other.role, other.handoff) or (one.is_spot and not other.is_spot):
        return False
    if one.usd_per_hour <= 0 or one.missing_share > other.missing_share:
        return False
    times = int(other.usd_per_hour / one.usd_per_hour + TOLERANCE)
    return all(rate <= times * one.requests_per_s.get(name, 0.0) for name, rate in other.requests_per_s.items())
