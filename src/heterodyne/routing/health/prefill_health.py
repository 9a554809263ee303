"""The replicas that compute prompts of one model for others: which of them may not be asked now.

Nobody panics over these: with all of them out, prompts are computed by those that answer. They take no retries and no
hedges either, so there is no budget of any.
"""

from collections.abc import Callable, Sequence

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.health.replica_health import ReplicaHealth
from heterodyne.routing.routing_request import NONE_OUT


class PrefillHealth:
    """Counts those that need a look, so that with none of them nothing has to be looked at."""

    __slots__ = ("_members", "_recovering", "_troubled")

    def __init__(self) -> None:
        self._members: tuple[ReplicaHealth, ...] = ()
        self._troubled = 0
        self._recovering = 0

    def publish(self, members: Sequence[ReplicaHealth]) -> None:
        """These compute the model's prompts from now on."""
        self._members = tuple(members)

    def on_request(self, tokens: int, now_s: float) -> None:
        """An attempt starts, which earns no retries."""

    def on_trouble(self, change: int) -> None:
        """One replica more, or one fewer, needs a look."""
        self._troubled += change

    def on_recovering(self, change: int) -> None:
        """One replica more, or one fewer, is in its slow start."""
        self._recovering += change

    def out(self, now_s: float, chance: Callable[[], float]) -> frozenset[ReplicaId]:
        """Those that this request must not be computed by: they fail, have enough to do, or have come back just now and
        it is not one of the few that they get."""
        if not self._troubled and not self._recovering:
            return NONE_OUT
        out: list[ReplicaId] = []
        for one in self._members:
            if one.may_take(now_s) is not None:
                out.append(one.replica)
            elif one.is_slow:
                weight = one.weight(now_s)
                if weight < 1.0 and chance() >= weight:
                    out.append(one.replica)
        return frozenset(out)
