"""Tables of docs/physics-accuracy.md that speak of splits: the headline, ranges, first tokens, groups."""

from collections.abc import Iterable, Sequence

from benchmarks.physics.accuracy import CALIBRATION_POINTS
from benchmarks.physics.report import Cell, Report, SplitScore
from benchmarks.physics.spreads import Coverage, ScoredSpreads
from benchmarks.physics.tables import NOTHING, percent, table
from heterodyne.physics.split import Split
from heterodyne.physics.spread import Spread

LEFT_OUT = {
    Split.SETUP: "the setup: other loads and layouts of the model are known",
    Split.LAYOUT: "the layout (TP, EP, attention copies)",
    Split.VERSION: "the version of the engine",
    Split.MODEL: "the model, wherever it ran",
    Split.CHIP: "the chip",
    Split.NOTHING: "everything: datasheets and priors",
}
BASIS = {
    Split.CALIBRATED: "yours",
    Split.SETUP: "–",
    Split.LAYOUT: "chip, its model measured",
    Split.VERSION: "chip, its model measured in another version",
    Split.MODEL: "chip, other models",
    Split.CHIP: "family",
    Split.VENDOR: "family, another maker's",
    Split.NOTHING: "datasheet",
}
PARTED = (Split.VERSION, Split.MODEL, Split.CHIP)  # whose ranges are shown by part
AIMS = {(Split.SETUP, False): "8 %", (Split.CHIP, False): "15 %", (Split.MODEL, True): "15 %"}


def headline(report: Report) -> str:
    """TPOT by what was left out."""
    head = ("Left out (mean absolute error of TPOT)", "Dense: median of groups", "worst", "Aim",
            "Mixture: median of groups", "worst", "median of rows", "Aim")  # fmt: skip
    rows = []
    for split, what in LEFT_OUT.items():
        dense, mixture = _of(report.splits, split, has_experts=False), _of(report.splits, split, has_experts=True)
        rows.append(
            (what, percent(dense.median), percent(dense.worst), AIMS.get((split, False), ""),
             percent(mixture.median), percent(mixture.worst), percent(mixture.rows_median),
             AIMS.get((split, True), ""))
        )  # fmt: skip
    after = (percent(report.calibrated[str(kind)]) for kind in (False, True))
    rows.append((f"the chip, then {CALIBRATION_POINTS} points of it known", next(after), "", "8 %", next(after), "", "",
                 ""))  # fmt: skip
    return table(head, rows)


def first_tokens_table(report: Report) -> str:
    """TTFT with and without queueing."""
    return table(
        ("Left out", "Models", "without queueing: median of groups", "of rows", "with: median of groups", "of rows"),
        (
            (split.value, _kind(has_experts), percent(one.ttft_free), percent(one.ttft_free_rows),
             percent(one.ttft_queued), percent(one.ttft_queued_rows))
            for has_experts in (False, True)
            for split in LEFT_OUT
            for one in (_of(report.splits, split, has_experts=has_experts),)
        ),
    )  # fmt: skip


def ranges_table(scored: Iterable[ScoredSpreads]) -> str:
    """Ranges by what a prediction rests on, and what they cover."""
    return table(
        ("Rests on", "Rows left out by", "Models", "rows", "groups", "as named", "TPOT: measured by predicted",
         "covers", "below middle", "TTFT: measured by predicted", "covers", "below middle", "below high"),
        (
            (BASIS[one.spreads.split], one.spreads.split.value, _kind(one.spreads.has_experts), str(one.spreads.rows),
             str(one.spreads.groups), _as_named(one), _spread(one.spreads.itl), _share(one.itl.within),
             _share(one.itl.below_middle), _spread(one.spreads.ttft), _share(one.ttft.within),
             _share(one.ttft.below_middle), _share(one.ttft.below_high))
            for one in scored
        ),
    )  # fmt: skip


def parts_table(scored: Iterable[ScoredSpreads]) -> str:
    """Of each part left out, how many of its rows are within ranges it had no part in."""
    return table(
        ("Left out", "Models", "Part", "rows", "TPOT within", "first tokens", "TTFT within", "below middle",
         "below high"),
        (
            (one.spreads.split.value, _kind(one.spreads.has_experts), part, str(itl.rows), _share(itl.within),
             *_ttft(one.ttft_of.get(part)))
            for one in scored if one.spreads.split in PARTED
            for part, itl in one.itl_of.items()
        ),
    )  # fmt: skip


def strangers_table(one: ScoredSpreads) -> str:
    """The same for chips of other makers, whose first tokens were not timed."""
    return table(
        ("Rests on", "rows", "chips", "measured by predicted", "covers", "below middle"),
        ((BASIS[Split.VENDOR], str(one.spreads.rows), str(one.spreads.groups), _spread(one.spreads.itl),
          _share(one.itl.within), _share(one.itl.below_middle)),),
    )  # fmt: skip


def cells_table(cells: Sequence[Cell]) -> str:
    """Every group of one kind of model."""
    return table(
        ("Hardware", "Engine", "Precision", "Model", "n", "setup", "layout", "version", "model (bias)", "chip",
         "everything", f"after {CALIBRATION_POINTS}", "TTFT without queueing", "with"),
        (
            (one.system, one.engine, one.precision, one.model, str(one.points),
             *(percent(one.tpot[split]) for split in (Split.SETUP, Split.LAYOUT, Split.VERSION)),
             f"{percent(one.tpot[Split.MODEL])} ({one.bias:+.0f} %)",
             percent(one.tpot[Split.CHIP]), percent(one.tpot[Split.NOTHING]), _maybe(one.calibrated),
             _maybe(one.ttft_free), _maybe(one.ttft_queued))
            for one in cells
        ),
    )  # fmt: skip


def _of(splits: Iterable[SplitScore], split: Split, *, has_experts: bool) -> SplitScore:
    return next(one for one in splits if (one.split, one.has_experts) == (split, has_experts))


def _kind(has_experts: bool) -> str:
    return "mixture" if has_experts else "dense"


def _maybe(value: float | None) -> str:
    return NOTHING if value is None else percent(value)


def _spread(spread: Spread) -> str:
    return f"{spread.low:.2f} – {spread.middle:.2f} – {spread.high:.2f}"


def _as_named(one: ScoredSpreads) -> str:
    if one.as_named is None:
        return NOTHING
    lent = f", so lent by {one.made_of.value}" if one.made_of is not None else ""
    return f"{_share(one.as_named)}{lent}"


def _ttft(coverage: Coverage | None) -> tuple[str, ...]:
    if coverage is None:
        return "0", NOTHING, NOTHING, NOTHING
    return str(coverage.rows), _share(coverage.within), _share(coverage.below_middle), _share(coverage.below_high)


def _share(value: float) -> str:
    return f"{value * 100:.0f} %"
