"""How far away the regions of the fleet are: the least time that a health page of a replica there took lately.

The least, because an engine that is busy answers late, and none answers sooner than the network lets it.
"""

from collections.abc import Callable

WINDOW_S = 60.0  # what is older than two of them is forgotten


class RegionDistances:
    """One per worker."""

    def __init__(self, tell: Callable[[str, float | None], None]) -> None:
        """`tell` hears of each region's distance, None where it is not known any more."""
        self._tell = tell
        self._least: dict[str, tuple[float, float, float]] = {}  # in the window before, in this one, and its begin

    def note(self, region: str | None, took_s: float, now_s: float) -> None:
        """A replica there has answered."""
        if region is None:
            return
        before_s, least_s, since_s = self._least.get(region, (took_s, took_s, now_s))
        if now_s - since_s >= WINDOW_S:
            before_s, least_s, since_s = least_s, took_s, now_s
        least_s = min(least_s, took_s)
        self._least[region] = before_s, least_s, since_s
        self._tell(region, min(before_s, least_s))

    def keep_only(self, regions: set[str | None]) -> None:
        """Forget those without a replica."""
        for gone in self._least.keys() - regions:
            del self._least[gone]
            self._tell(gone, None)
