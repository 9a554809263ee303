"""The bake-off's part of docs/routing-bakeoff.md: who is first where, where ours is not, and every cell."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, geometric_mean

from msgspec import Struct

from benchmarks.routing.bakeoff import OURS, PEERS, POLICIES, Cell, Outcome, Score
from benchmarks.routing.estimates import Estimate, estimate, is_surely_less
from benchmarks.routing.fleets import FLEETS, Kind, fleet
from benchmarks.routing.target import Target, table

SLO = OURS[0]
NEGLIGIBLE = 0.001  # of requests: a smaller gap is not listed
NEAR = 5.0  # per cent that may lie between ours and the best in a fleet of one kind

Seeds = Mapping[str, list[Score]]  # policy: by seed
Measure = Callable[[Score], float]


class Gap(Struct, frozen=True, kw_only=True):
    """One cell, ours beside the best peer."""

    cell: Cell
    peer: str  # best on requests within
    ours: float
    theirs: float
    is_sure: bool  # that they are ahead
    tokens_peer: str  # best on tokens within for a dollar
    usd_more: float  # that a token within costs with ours, as a share
    is_usd_sure: bool

    @property
    def points(self) -> float:
        """By which we are behind; below zero where we are ahead."""
        return 100 * (self.theirs - self.ours)

    @property
    def where(self) -> str:
        return f"{self.cell.fleet}, {self.cell.trace}, load {self.cell.load:g}"


def within(score: Score) -> float:
    """What attainment is compared by."""
    return score.within


def tokens_per_usd(score: Score) -> float:
    """What dollars are compared by: nothing within is nothing, and no infinity."""
    return 1 / score.usd


def section(outcomes: Sequence[Outcome]) -> str:
    """All of it."""
    found = _by_cell(outcomes)
    gaps = [_gap(cell, seeds) for cell, seeds in found.items()]
    return "\n".join(
        (
            "## Bake-off\n",
            table(targets(gaps)),
            _standings(found),
            _by_kind(gaps),
            _losses(gaps),
            "### Every cell\n",
            "Requests within the service level in per cent, and dollars of the whole fleet, while requests came, for a "
            "million output tokens of\nrequests within it: means over seeds ± half the 95 % confidence interval. The "
            "first of each column is bold.\n",
            *_tables(found, outcomes),
        )
    )


def targets(gaps: Sequence[Gap]) -> list[Target]:
    """The issue's own numbers."""
    mixed = [gap for gap in gaps if fleet(gap.cell.fleet).kind is Kind.MIXED]
    single = [gap for gap in gaps if fleet(gap.cell.fleet).kind is Kind.ONE]
    cells = f"of {len(mixed)} cells of mixed fleets, those in which a peer is surely ahead of `slo` on"
    return [
        Target(what=f"{cells} requests within", measured=sum(gap.is_sure for gap in mixed), unit="", most=0, digits=0),
        Target(what=f"{cells} dollars", measured=sum(gap.is_usd_sure for gap in mixed), unit="", most=0, digits=0),
        Target(
            what="fleets of one kind: `slo` behind the best peer on requests within, worst cell",
            measured=max(100 * (1 - gap.ours / gap.theirs) for gap in single),
            unit=" %",
            most=NEAR,
        ),
        Target(
            what="fleets of one kind: `slo` behind the best peer on dollars, worst cell",
            measured=max(100 * gap.usd_more for gap in single),
            unit=" %",
            most=NEAR,
        ),
    ]


def _by_cell(outcomes: Sequence[Outcome]) -> dict[Cell, Seeds]:
    found: dict[Cell, dict[str, list[Score]]] = {}
    for outcome in sorted(outcomes, key=lambda one: (_place(one.cell), one.seed)):
        for policy, score in outcome.scores.items():
            found.setdefault(outcome.cell, {}).setdefault(policy, []).append(score)
    return dict(found)


def _place(cell: Cell) -> tuple[int, str, float]:
    return [one.name for one in FLEETS].index(cell.fleet), cell.trace, cell.load


def _gap(cell: Cell, seeds: Seeds) -> Gap:
    peer, tokens_peer = (_first(seeds, PEERS, measure) for measure in (within, tokens_per_usd))
    ours = _values(seeds[SLO], tokens_per_usd)
    theirs = _values(seeds[tokens_peer], tokens_per_usd)
    return Gap(
        cell=cell,
        peer=peer,
        ours=fmean(_values(seeds[SLO], within)),
        theirs=fmean(_values(seeds[peer], within)),
        is_sure=is_surely_less(_values(seeds[SLO], within), _values(seeds[peer], within)),
        tokens_peer=tokens_peer,
        usd_more=fmean(theirs) / fmean(ours) - 1,
        is_usd_sure=is_surely_less(ours, theirs),
    )


def _values(scores: Sequence[Score], measure: Measure) -> list[float]:
    return [measure(score) for score in scores]


def _first(seeds: Seeds, policies: Sequence[str], measure: Measure) -> str:
    return max(policies, key=lambda policy: fmean(_values(seeds[policy], measure)))


def _is_level(seeds: Seeds, policy: str, measure: Measure) -> bool:
    best = _first(seeds, POLICIES, measure)
    return not is_surely_less(_values(seeds[policy], measure), _values(seeds[best], measure))


def _standings(found: Mapping[Cell, Seeds]) -> str:
    kinds = list(Kind)
    lines = [
        "### Standings\n",
        f"First, or not surely behind the first (95 %, seed by seed), in so many of {len(found)} cells; the mean "
        "share of requests\nwithin the service level by kind of fleet; and what the busy seconds of replicas cost for "
        "a token within it, against `slo`:\nwhat it would come to if idle replicas cost nothing.\n",
        f"| policy | first on requests within | first on dollars | {' | '.join(kinds)} | busy dollars |",
        f"|---|---:|---:|{'---:|' * len(kinds)}---:|",
    ]
    for policy in POLICIES:
        level = [sum(_is_level(seeds, policy, one) for seeds in found.values()) for one in (within, tokens_per_usd)]
        means = [
            fmean(
                score.within
                for cell, seeds in found.items()
                if fleet(cell.fleet).kind is kind
                for score in seeds[policy]
            )
            for kind in kinds
        ]
        shares = " | ".join(f"{mean:.1%}" for mean in means)
        lines.append(f"| {policy} | {level[0]} | {level[1]} | {shares} | {_busy(found, policy)} |")
    return "\n".join([*lines, ""])


def _busy(found: Mapping[Cell, Seeds], policy: str) -> str:
    ratios = [
        theirs.usd_busy / ours.usd_busy
        for seeds in found.values()
        for ours, theirs in zip(seeds[SLO], seeds[policy], strict=True)
        if theirs.usd_busy < float("inf") and ours.usd_busy < float("inf")
    ]
    return f"{geometric_mean(ratios):.2f} ×" if ratios else "-"


def _by_kind(gaps: Sequence[Gap]) -> str:
    lines = [
        "### `slo` beside the best peer\n",
        "The best peer of each cell, which is not the same one everywhere.\n",
        "| fleets | cells | not surely behind, requests | dollars | points behind, most | where | dollars more, most "
        "| where |",
        "|---|---:|---:|---:|---:|---|---:|---|",
    ]
    for kind in Kind:
        those = [gap for gap in gaps if fleet(gap.cell.fleet).kind is kind]
        if not those:
            continue
        worst, dearest = max(those, key=lambda gap: gap.points), max(those, key=lambda gap: gap.usd_more)
        lines.append(
            f"| {kind} | {len(those)} | {sum(not gap.is_sure for gap in those)} "
            f"| {sum(not gap.is_usd_sure for gap in those)} "
            f"| {max(0.0, worst.points):.1f} | {_where(worst, worst.points)} "
            f"| {max(0.0, dearest.usd_more):.1%} | {_where(dearest, dearest.usd_more)} |"
        )
    return "\n".join([*lines, ""])


def _where(gap: Gap, behind: float) -> str:
    return gap.where if behind > 0 else "nowhere"


def _losses(gaps: Sequence[Gap]) -> str:
    lost = sorted(
        (gap for gap in gaps if gap.theirs - gap.ours > NEGLIGIBLE or gap.usd_more > NEGLIGIBLE),
        key=lambda gap: -gap.points,
    )
    if not lost:
        return "### Where `slo` is behind\n\nNowhere.\n"
    lines = [
        "### Where `slo` is behind\n",
        f"In {len(lost)} of {len(gaps)} cells a peer has the better mean, on requests or on dollars; *sure* where the "
        "confidence interval of the\ndifference leaves out zero.\n",
        "| fleet | trace | load | slo | best peer | points behind | | dollars: best peer | `slo` costs more | |",
        "|---|---|---:|---:|---|---:|---|---|---:|---|",
    ]
    for gap in lost:
        cell = gap.cell
        lines.append(
            f"| {cell.fleet} | {cell.trace} | {cell.load:g} | {gap.ours:.1%} | {gap.peer} {gap.theirs:.1%} "
            f"| {gap.points:.1f} | {'sure' if gap.is_sure else ''} | {gap.tokens_peer} | {gap.usd_more:.1%} "
            f"| {'sure' if gap.is_usd_sure else ''} |"
        )
    return "\n".join([*lines, ""])


def _tables(found: Mapping[Cell, Seeds], outcomes: Sequence[Outcome]) -> list[str]:
    pairs = list(dict.fromkeys((cell.fleet, cell.trace) for cell in found))
    return [
        _table(
            {cell: seeds for cell, seeds in found.items() if (cell.fleet, cell.trace) == pair},
            [one for one in outcomes if (one.cell.fleet, one.cell.trace) == pair],
        )
        for pair in pairs
    ]


def _table(found: Mapping[Cell, Seeds], outcomes: Sequence[Outcome]) -> str:
    first = next(iter(found))
    lengths = [one.arrivals_s for one in outcomes]
    requests = [one.requests for one in outcomes]
    loads = " | ".join(f"{cell.load:g}: within | $/1M" for cell in found)
    lines = [
        f"#### {first.fleet}, {first.trace}\n",
        f"{min(requests):,} to {max(requests):,} requests in {min(lengths):.0f} to {max(lengths):.0f} s.\n",
        f"| policy | {loads} |",
        f"|---|{'---:|---:|' * len(found)}",
    ]
    bests = [
        tuple(_first(seeds, POLICIES, measure) for measure in (within, tokens_per_usd)) for seeds in found.values()
    ]
    for policy in POLICIES:
        parts = []
        for (best, best_usd), seeds in zip(bests, found.values(), strict=True):
            scores = seeds[policy]
            parts.append(_bold(_per_cent(estimate(_values(scores, within))), is_bold=policy == best))
            parts.append(_bold(_usd(scores), is_bold=policy == best_usd))
        lines.append(f"| {policy} | {' | '.join(parts)} |")
    return "\n".join([*lines, ""])


def _per_cent(one: Estimate) -> str:
    return f"{100 * one.mean:.1f} ± {100 * one.half:.1f}"


def _usd(scores: Sequence[Score]) -> str:
    if any(score.usd == float("inf") for score in scores):
        return "none within"
    one = estimate([score.usd for score in scores])
    return f"{one.mean:.2f} ± {one.half:.2f}" if one.mean < 1000 else f"{one.mean:,.0f}"


def _bold(text: str, *, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text
