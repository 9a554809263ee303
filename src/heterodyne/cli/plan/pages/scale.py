"""An axis: from values to places on the page, linear or logarithmic, with round numbers to read it by."""

from collections.abc import Sequence
from math import ceil, floor, log10

from msgspec import Struct

LOGARITHMIC_FROM = 8.0  # greatest over least, above which a linear axis would crowd the small ones
NARROWEST = 1.25  # a scale shows no less than this ratio, so that chance differences do not look large
MARGIN = 0.04  # of the axis, on both sides
STEPS = (1.0, 2.0, 5.0, 10.0)


class AxisScale(Struct, frozen=True, kw_only=True):
    """Positive values from `low` to `high` laid from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool

    def place(self, value: float) -> float:
        """Where a value stands."""
        share = (self._reading(value) - self._reading(self.low)) / (self._reading(self.high) - self._reading(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self, wanted: int = 6) -> list[float]:
        """Round values inside the scale."""
        return self._powers(wanted) if self.is_logarithmic else self._multiples(wanted)

    def _reading(self, value: float) -> float:
        return log10(value) if self.is_logarithmic else value

    def _powers(self, wanted: int) -> list[float]:
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        for leading in ((1, 2, 5), (1, 3), (1,)):
            found = [first * 10.0**power for power in decades for first in leading]
            inside = [value for value in found if self.low <= value <= self.high]
            if len(inside) <= wanted + 2:
                return inside
        return inside

    def _multiples(self, wanted: int) -> list[float]:
        raw = (self.high - self.low) / wanted
        power = 10.0 ** floor(log10(raw))
        step = next(one * power for one in STEPS if one * power >= raw * 0.999)
        first = ceil(self.low / step - 1e-9)
        return [step * count for count in range(first, floor(self.high / step + 1e-9) + 1)]


def scale_for(values: Sequence[float], *, start: float, end: float) -> AxisScale:
    """The scale that shows these values, all above zero, with a margin."""
    low, high = min(values), max(values)
    is_logarithmic = high / low >= LOGARITHMIC_FROM
    if high / low < NARROWEST:
        low = high / NARROWEST
    if is_logarithmic:
        room = (high / low) ** MARGIN
        low, high = low / room, high * room
    else:
        room = (high - low) * MARGIN
        low, high = low - room, high + room
    return AxisScale(low=low, high=high, start=start, end=end, is_logarithmic=is_logarithmic)


def tick_text(value: float) -> str:
    """A round number with no more digits than it has."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
