"""What quality and cost become as more answers are taken from the big model."""

import numpy as np
from msgspec import Struct

from heterodyne.routing.cascade.regression import Floats


class QualityCurve(Struct, frozen=True, kw_only=True, eq=False):
    """By the number of big calls, from none to all; of equal risks, those that come first are kept."""

    big_share: Floats
    quality: Floats
    cheap_quality: float
    big_quality: float

    @property
    def gap_recovered(self) -> float:
        """The mean share of the gap between both models over all shares of big calls (APGR): 0.5 by chance."""
        gap = self.big_quality - self.cheap_quality
        return (float(self.quality.mean()) - self.cheap_quality) / gap if gap else 0.0

    def big_share_at(self, quality_kept: float) -> float:
        """The least share of big calls that keeps this share of the big model's quality."""
        reached = np.flatnonzero(self.quality >= quality_kept * self.big_quality - 1e-12)
        return float(self.big_share[reached].min()) if len(reached) else 1.0

    def big_share_by_chance(self, quality_kept: float) -> float:
        """The same, were prompts chosen by lot."""
        gap = self.big_quality - self.cheap_quality
        return max(0.0, (quality_kept * self.big_quality - self.cheap_quality) / gap) if gap > 0 else 0.0

    def quality_at(self, big_share: float) -> float:
        """The quality at this share of big calls."""
        return float(self.quality[int(np.abs(self.big_share - big_share).argmin())])


def quality_curve(risks: Floats, cheap_quality: Floats, big_quality: Floats) -> QualityCurve:
    """Prompts go to the big model in the order of their risks, the riskiest first."""
    order = np.argsort(-risks, kind="stable")
    gains = np.concatenate([[0.0], np.cumsum((big_quality - cheap_quality)[order])])
    rows = len(risks)
    return QualityCurve(
        big_share=np.arange(rows + 1) / max(1, rows),
        quality=float(cheap_quality.mean()) + gains / max(1, rows),
        cheap_quality=float(cheap_quality.mean()),
        big_quality=float(big_quality.mean()),
    )
