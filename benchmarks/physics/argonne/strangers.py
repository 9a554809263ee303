"""How far chips of other makers are from prices that one maker's chips set: the widest of the ranges."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.physics.argonne.rows import BatchPoint
from benchmarks.physics.spreads import Residuals, ScoredSpreads, scored_spreads
from heterodyne.physics.profile import Basis, Profile, find_profile
from heterodyne.physics.split import Split
from heterodyne.physics.spread import Spread, Spreads


def strangers(batches: Sequence[BatchPoint], profiles: Sequence[Profile]) -> ScoredSpreads:
    """The spread of batches on other makers' chips, in one for dense models and mixtures.

    The rows are of engines of 2024: what the same engine's rows on the known maker's chips took longer, in the middle,
    is taken off as age. First tokens were not timed there, so theirs is that of a chip left out, as much wider.
    """
    logs: dict[str, list[tuple[bool, float, str]]] = defaultdict(list)
    for point in batches:
        found = find_profile(profiles, point.profile_key, vendor=point.chip.vendor)
        if found.basis is not Basis.DATASHEET:
            ratio = point.tpot_s / found.profile.prices.seconds(point.terms)
            logs[point.engine].append((found.split is Split.VENDOR, float(np.log(ratio)), point.system))
    far: list[float] = []
    part_of: list[str] = []
    for rows in logs.values():
        at_home = [log for is_strange, log, _ in rows if not is_strange]
        age = float(np.median(at_home)) if at_home else 0.0
        far += [log - age for is_strange, log, _ in rows if is_strange]
        part_of += [system for is_strange, _, system in rows if is_strange]
    errors = np.expm1(-np.array(far))
    return scored_spreads(
        Residuals(
            split=Split.VENDOR,
            has_experts=False,
            itl=errors,
            ttft=errors,
            part_of=tuple(part_of),
            groups=len(set(part_of)),
        )
    )


def of_kind(scored: ScoredSpreads, chip: Spreads) -> Spreads:
    """The same for the kind of model that `chip`, the spreads of a chip left out, is of."""
    itl, known = scored.spreads.itl, chip.itl
    ttft = Spread(
        low=chip.ttft.low * min(itl.low / known.low, 1.0),
        middle=chip.ttft.middle * itl.middle / known.middle,
        high=chip.ttft.high * itl.high / known.high,
    )
    return Spreads(
        split=Split.VENDOR,
        has_experts=chip.has_experts,
        rows=scored.spreads.rows,
        groups=scored.spreads.groups,
        itl=itl,
        ttft=Spread(**{name: float(f"{getattr(ttft, name):.3g}") for name in ("low", "middle", "high")}),
    )
