"""Pure: replicas that have just come back get a growing share of what they would be given, beside the others."""

from collections.abc import Sequence
from typing import Final

from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.routing.picker import Chance

ALIKE: Final = 0.99  # weights of replicas that get the same
LISTS_MAX: Final = 64


class SlowStart:
    """Remembers the lists it was given and those it made of them: the router knows a list that it is given again.

    One per worker.
    """

    __slots__ = ("_lists",)

    def __init__(self) -> None:
        self._lists: dict[int, _Shortened] = {}

    def forget(self) -> None:
        """There are other replicas."""
        self._lists = {}

    def drawn(
        self, usable: Sequence[Replica], weights: Sequence[tuple[ReplicaId, float]], chance: Chance
    ) -> Sequence[Replica]:
        """Those that this request may go to; `weights` are below 1, in the order of the fleet, all others have 1."""
        known = self._lists.get(id(usable))
        if known is None or known.usable is not usable:
            if len(self._lists) >= LISTS_MAX:
                self._lists.clear()
            known = self._lists[id(usable)] = _Shortened(usable)
        positions = known.positions
        found = [(positions[replica], weight) for replica, weight in weights if replica in positions]
        if not found:
            return usable
        shares = [weight for _, weight in found]
        most = max(shares) if len(found) == len(usable) else 1.0
        if min(shares) >= ALIKE * most:
            return usable  # they came back together
        return known.without([place for place, weight in found if weight != most and chance() * most >= weight])


class _Shortened:
    """One list, and what is left of it without some."""

    __slots__ = ("_left", "positions", "usable")

    def __init__(self, usable: Sequence[Replica]) -> None:
        self.usable = usable
        self.positions = {replica.id: position for position, replica in enumerate(usable)}
        self._left: dict[tuple[int, ...], Sequence[Replica]] = {}

    def without(self, out: list[int]) -> Sequence[Replica]:
        if not out:
            return self.usable
        key = tuple(out)
        known = self._left.get(key)
        if known is None:
            if len(self._left) >= LISTS_MAX:
                self._left.clear()
            left = list(self.usable)
            for position in reversed(out):
                del left[position]
            known = self._left[key] = left
        return known
