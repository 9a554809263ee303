"""Pure: how many tokens an event of a stream carries, for streams that end before their engine has counted.

Most engines send an event for each token; those that decode several at a time, or send them by the handful, do not.
"""

from collections import deque
from statistics import median

from heterodyne.domain.fleet import PoolName

STREAMS_KEPT = 31
EVENTS_MIN = 8  # of a shorter stream too much is beginning and end
EVENTS_OF_THE_END = 2  # why it ended, and that it has
POOLS_MAX = 1000


class EventTokens:
    """The usual number for each pool, learned from its latest whole streams: an odd one moves nothing."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: dict[PoolName, deque[float]] = {}

    def learn(self, pool: PoolName, events: int, tokens: int) -> None:
        """A whole stream had so many events, and its engine counted so many tokens."""
        if events < EVENTS_MIN:
            return
        seen = self._seen.get(pool)
        if seen is None:
            if len(self._seen) >= POOLS_MAX:
                return
            seen = self._seen[pool] = deque(maxlen=STREAMS_KEPT)
        seen.append(tokens / (events - EVENTS_OF_THE_END))

    def estimate(self, pool: PoolName, events: int) -> int:
        """The tokens of a stream that broke off after so many events: at least one for each."""
        seen = self._seen.get(pool)
        return events if not seen else round(events * max(1.0, median(seen)))
