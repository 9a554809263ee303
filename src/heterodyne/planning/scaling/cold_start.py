"""How long a replica takes from being asked for to its first request: as measured here, else as the operator says."""

from msgspec import Struct

KEPT = 32  # measurements, the latest
TRUSTED = 4  # so many are worth more than what was said
LATE = 0.9  # the share of cold starts that is over by `late_s`


class ColdStarts(Struct, frozen=True, kw_only=True):
    """Of one pool."""

    said_s: float
    measured_s: tuple[float, ...] = ()  # the oldest first

    def with_measured(self, more_s: tuple[float, ...]) -> "ColdStarts":
        """Some have ended."""
        return ColdStarts(said_s=self.said_s, measured_s=(*self.measured_s, *more_s)[-KEPT:]) if more_s else self

    @property
    def usual_s(self) -> float:
        """The median."""
        return self._quantile(0.5)

    @property
    def late_s(self) -> float:
        """What a plan should reckon with."""
        return self._quantile(LATE)

    def _quantile(self, share: float) -> float:
        known = sorted((*self.measured_s, *(self.said_s,) * max(0, TRUSTED - len(self.measured_s))))
        return known[min(len(known) - 1, int(share * len(known)))]
