"""What a way to choose between two models keeps of the quality, and what it costs in dollars and milliseconds."""

import math
from collections.abc import Sequence

from msgspec import Struct

from heterodyne.routing.cascade.observed_row import ObservedAnswer, ObservedRow


class CascadeOutcome(Struct, frozen=True, kw_only=True):
    """One way to choose, over all rows."""

    name: str
    quality: float
    quality_kept: float  # as a share of always asking the big model
    usd_per_request: float
    usd_share: float
    big_call_share: float
    both_call_share: float  # paid for both models
    ms_mean: float | None  # None where any row lacks a time
    ms_p95: float | None


class _Tally:
    """Sums over the rows of one way to choose."""

    def __init__(self) -> None:
        self.quality = self.usd = 0.0
        self.rows = self.big_calls = self.both_calls = 0
        self.times: list[float | None] = []

    def add(self, answer: ObservedAnswer, usd: float, ms: float | None, *, big: bool, both: bool = False) -> None:
        self.rows += 1
        self.quality += answer.quality
        self.usd += usd
        self.times.append(ms)
        self.big_calls += big
        self.both_calls += both

    def outcome(self, name: str, quality: float, usd: float) -> CascadeOutcome:
        times = sorted(ms for ms in self.times if ms is not None)
        is_timed = self.rows > 0 and len(times) == self.rows
        return CascadeOutcome(
            name=name,
            quality=self.quality / max(1, self.rows),
            quality_kept=self.quality / quality if quality else 1.0,
            usd_per_request=self.usd / max(1, self.rows),
            usd_share=self.usd / usd if usd else 1.0,
            big_call_share=self.big_calls / max(1, self.rows),
            both_call_share=self.both_calls / max(1, self.rows),
            ms_mean=sum(times) / len(times) if is_timed else None,
            ms_p95=times[math.ceil(0.95 * len(times)) - 1] if is_timed else None,
        )


def outcomes(
    rows: Sequence[ObservedRow], cheap: str, big: str, *, routed: Sequence[bool], judged: Sequence[bool] | None
) -> list[CascadeOutcome]:
    """Always cheap, always big, the router, the cascade where answers were judged, and a clairvoyant.

    `routed` says by row whether the prompt alone goes to the cheap model, `judged` whether its answer is kept. The
    clairvoyant asks the cheap model alone wherever that loses nothing.
    """
    tallies = {name: _Tally() for name in ("always_cheap", "always_big", "router", "cascade", "clairvoyant")}
    for place, row in enumerate(rows):
        small, large = row.models[cheap], row.models[big]
        tallies["always_cheap"].add(small, small.usd, small.ms, big=False)
        tallies["always_big"].add(large, large.usd, large.ms, big=True)
        chosen = small if routed[place] else large
        tallies["router"].add(chosen, chosen.usd, chosen.ms, big=chosen is large)
        best = small if small.quality >= large.quality else large
        tallies["clairvoyant"].add(best, best.usd, best.ms, big=best is large)
        if judged is not None:
            usd, ms = small.usd + row.judge_usd, _sum(small.ms, row.judge_ms)
            if judged[place]:
                tallies["cascade"].add(small, usd, ms, big=False)
            else:
                tallies["cascade"].add(large, usd + large.usd, _sum(ms, large.ms), big=True, both=True)
    reference = tallies["always_big"]
    return [tally.outcome(name, reference.quality, reference.usd) for name, tally in tallies.items() if tally.rows]


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second
