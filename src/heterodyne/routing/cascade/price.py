"""What a big answer costs, as far as the prompt tells: risks are weighed by it, so that each dollar buys the most.

Of two prompts with the same risk, the one whose big answer costs half as much is the better one to send there. Ranking
by risk alone saves calls; ranking by risk for the price saves dollars.
"""

from typing import Final

import numpy as np
from msgspec import Struct

from heterodyne.routing.cascade.judges.doubt import UNUSABLE
from heterodyne.routing.cascade.regression import Floats

RELATIVE_MIN, RELATIVE_MAX = 0.05, 20.0  # a straight line says nonsense far from where it was fitted
_EVEN_RISK: Final = 0.5  # of an answer that is as likely to win as to lose: it costs nothing in expectation


class BigPrice(Struct, frozen=True, kw_only=True):
    """Dollars of a big answer by the length of the prompt, a straight line, and their mean."""

    usd_base: float
    usd_per_character: float
    usd_mean: float

    def relative(self, prompt: str) -> float:
        """The price beside that of a usual prompt."""
        usd = self.usd_base + self.usd_per_character * len(prompt)
        return max(RELATIVE_MIN, min(RELATIVE_MAX, usd / self.usd_mean))


EVEN_PRICE: Final = BigPrice(usd_base=1.0, usd_per_character=0.0, usd_mean=1.0)  # each call counts the same


def fit_price(lengths: Floats, usd: Floats) -> BigPrice:
    """The line through observed prices; where longer prompts are not dearer, or nothing costs anything, no line."""
    mean = float(usd.mean())
    spread = float(((lengths - lengths.mean()) ** 2).sum())
    if mean <= 0 or spread <= 0:
        return EVEN_PRICE
    slope = float(((lengths - lengths.mean()) * (usd - mean)).sum()) / spread
    if slope <= 0:
        return EVEN_PRICE
    return BigPrice(usd_base=mean - slope * float(np.mean(lengths)), usd_per_character=slope, usd_mean=mean)


def priced(risk: float, relative_price: float) -> float:
    """A risk weighed by a price, again from 0 to 1: expected losses shrink where the big answer is dear."""
    if risk >= UNUSABLE:
        return UNUSABLE
    weighed = (risk - _EVEN_RISK) / relative_price
    return _EVEN_RISK + weighed / (1 + 2 * abs(weighed))
