"""When each request of an open-loop run is meant to be sent, whatever the server does."""

from collections.abc import Iterator
from itertools import accumulate, count, repeat
from random import Random

from heterodyne.bench.plan import ArrivalProcess


def arrivals(kind: ArrivalProcess, rate_requests_per_s: float, random: Random) -> Iterator[float]:
    """Seconds since the start of the run, never decreasing, without end."""
    if kind is ArrivalProcess.CONSTANT:
        yield from (index / rate_requests_per_s for index in count())
    else:
        yield from accumulate(random.expovariate(rate_requests_per_s) for _ in repeat(None))
