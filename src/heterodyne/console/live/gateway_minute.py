"""Pure: the last minutes of other gateways, put together with this one's.

Each gateway tells the sums of the requests that ended there, so that all consoles show the same fleet whichever gateway
they are opened at. Windows of gateways end within two seconds of each other.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from heterodyne.console.live.recent_activity import RecentWindow
from heterodyne.domain.history import Sums
from heterodyne.domain.minute_tally import MinuteTally

POOLS_MAX = 40  # told of one gateway, those with the most requests; `whole` has all


class GatewayMinute(Struct, frozen=True, kw_only=True):
    """What one gateway tells of itself."""

    in_flight: int = 0
    queued: int = 0
    whole: Sums = Sums()
    by_pool: dict[str, Sums] = {}


class OtherGateway(Struct, frozen=True, kw_only=True):
    """One that is heard of now."""

    name: str
    minute: GatewayMinute
    settings: str = ""  # the version it works by; "": it tells none


def minute_of(window: RecentWindow, *, in_flight: int, queued: int) -> GatewayMinute:
    """What the others are told."""
    busiest = sorted(window.by_pool.items(), key=lambda pair: -pair[1].requests)[:POOLS_MAX]
    return GatewayMinute(in_flight=in_flight, queued=queued, whole=window.whole, by_pool=dict(busiest))


def window_of_all(window: RecentWindow, others: Sequence[OtherGateway]) -> RecentWindow:
    """The last minute of all gateways."""
    if not others:
        return window
    by_pool = dict(window.by_pool)
    for other in others:
        for pool, sums in other.minute.by_pool.items():
            known = by_pool.get(pool)
            by_pool[pool] = sums if known is None else _merged((known, sums))
    whole = _merged((window.whole, *(other.minute.whole for other in others)))
    return structs.replace(window, whole=whole, by_pool=by_pool)


def _merged(all_sums: Iterable[Sums]) -> Sums:
    tally = MinuteTally()
    for sums in all_sums:
        tally.merge(sums)
    return tally.sums()
