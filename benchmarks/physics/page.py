"""The report as a page for people: docs/physics-accuracy.md."""

from collections.abc import Iterable

from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    CALIBRATION_RIDGE,
    DRAWS,
    FOLDS,
    RIDGE,
    TRANSFER_RIDGE,
    VERSION_POINTS,
)
from benchmarks.physics.argonne.first_tokens import FirstTokens
from benchmarks.physics.argonne.page import batch_section, vendor_lines
from benchmarks.physics.argonne.report import BatchReport
from benchmarks.physics.disaggregated.page import split_line, split_section
from benchmarks.physics.disaggregated.report import SplitReport
from benchmarks.physics.report import Chip, Group, Report
from benchmarks.physics.tables import cells, counts, filtered, percent, table

HEAD = "# How right the performance model is\n\nWritten by `make bench-physics`; do not edit.\n"


def render(report: Report, batches: BatchReport, firsts: tuple[FirstTokens, ...], split: SplitReport) -> str:
    """The whole page."""
    dense, mixture = report.dense, report.mixture
    targets = table(
        ("What (mean absolute error of TPOT)", "Dense", "Target", "Mixture", "Aim"),
        (
            ("cross-validated, median of groups", percent(dense.cross_validated_median), "8 %",
             percent(mixture.cross_validated_median), "15 %"),
            ("cross-validated, worst group", percent(dense.cross_validated_worst), "13 %",
             percent(mixture.cross_validated_worst), ""),
            ("a chip left out entirely, median of chips", percent(dense.left_out_median), "15 %",
             percent(mixture.left_out_median), ""),
            ("a chip left out entirely, worst chip", percent(dense.left_out_worst), "15 %",
             percent(mixture.left_out_worst), ""),
            (f"left out, then {CALIBRATION_POINTS} points, median of groups", percent(dense.calibrated_median), "8 %",
             percent(mixture.calibrated_median), ""),
            ("TTFT, cross-validated, median of groups", percent(dense.ttft_median), "",
             percent(mixture.ttft_median), ""),
        ),
    )  # fmt: skip
    cost = (
        f"One decode step costs {report.evaluation_us:.1f} µs of pure Python, laying a model out on chips "
        f"{report.placement_us:.1f} µs, and laying out and evaluating 64 candidates {report.sweep_ms:.2f} ms.\n"
    )
    parts = (
        HEAD,
        targets,
        BESIDE,
        _beside(batches, split),
        cost,
        "## Dense models\n",
        _groups(group for group in report.groups if not group.has_experts and group.tpot),
        "## Mixture models\n",
        _groups(group for group in report.groups if group.has_experts and group.tpot),
        "## Chips left out\n",
        _chips(report.chips),
        f"## Groups with fewer than {CALIBRATION_POINTS} points\n",
        SMALL,
        _small(group for group in report.groups if not group.tpot),
        "## Rows\n",
        counts(report.rows),
        "## Method\n",
        METHOD,
        batch_section(batches, firsts),
        split_section(split),
    )
    return "\n".join(parts)


BESIDE = """\
The headline is NVIDIA silicon under aggregated serving with engines of 2025 and later. Beside it, from sections further
down that it does not contain: whole batches of 2024 on nine kinds of hardware, and prompts apart from answers.
*Before* is scored with prices that none of these rows made.
"""

SMALL = """\
Fewer than the points one calibration takes: they are in no figure above. The GB200 rows contradict themselves (TPOT
goes from 8 to 42 ms between one request and two, and falls again with more), so no prices explain them; counted,
they would be the worst dense group.
"""

METHOD = f"""\
Points are the aggregated-serving rows of `aiconfigurator_silicon_sample_a.csv.xz` (NVIDIA, Apache-2.0; a steady
number of requests in a closed loop). A row's TPOT is one decode step of the running sequences plus the prompts
that come between two tokens: every answer beside ours brings one prompt. Each is a sum of ideal times (weights,
experts touched, KV, operations, collectives over the link) and counts (layers, sequences, steps), each times a
price from the profile. Sequences beyond what the KV memory holds wait.

- **Fit.** Nonnegative least squares on relative error, reweighted towards absolute error, held towards published
  priors with ridge {RIDGE:g} of the squared share a term explains. Versions of an engine with {VERSION_POINTS} or
  more points have prices of their own, held towards the group's. No price falls below a quarter of its prior, so
  that no term is free on loads the points do not show.
- **Cross-validated.** {FOLDS} folds. Points that share hardware, engine, precision, model, lengths, concurrency
  and layout are in one fold, so that no near-duplicate is on both sides; repeated publications of one
  measurement are dropped.
- **Left out.** Prices from every other chip under the same engine and kind of model, held with ridge
  {TRANSFER_RIDGE:g} towards published priors. Not one point of the chip, in any precision, is seen. An engine
  that no other chip has is marked *datasheet*: priors alone.
- **After {CALIBRATION_POINTS} points.** The left-out prices, then {CALIBRATION_POINTS} points drawn with a seed
  and ridge {CALIBRATION_RIDGE:g} towards them; scored on the points not drawn, mean of {DRAWS} draws.
- **No row is dropped from the headline for its error.** The column *without 3σ* leaves out points whose error is
  beyond three robust sigma, with their number; shipped profiles are fitted without them. Some look mislabelled (on
  H100 under vLLM, 512 requests at nearly the TPOT of four, with a TTFT of 20 s and more: most of them probably
  waited outside the batch); we did not establish that for the others, which may be the tail of our own error.
- **Left-out chips are summed per chip.** A single group can be worse than its chip: FP4 on B200 is a precision that
  no other dense chip here has, and SGLang has dense rows on one chip only.
- **Shipped vLLM profiles for dense models** come from published median efficiencies, since the sample has no such
  rows; only the static batches below score them, on an engine older than they are.
- **Choices made while looking at these scores:** the form of the terms, the three ridges (from steps of about three;
  the targets hold for ridges three times larger or smaller too) and which labels to put right. So read the
  cross-validation as that of the prices, not of the form.
- **TTFT** is the prompt's time, a share of the other prompts in front, half a step and a constant, and waiting
  for memory by Little's law. The rows mix warm-up bursts and steady state, which no physics tells apart: treat
  TTFT as queueing, to be corrected online.
"""


def _beside(batches: BatchReport, split: SplitReport) -> str:
    return table(
        ("Beside the headline", "n", "before, median of groups", "cross-validated", "worst group"),
        (*vendor_lines(batches), split_line(split)),
    )


def _groups(groups: Iterable[Group]) -> str:
    return table(
        ("Hardware", "Engine", "Precision", "Models", "n", "TPOT mean", "median", "p90", "without 3σ (n)", "TTFT mean",
         "median", "chip unseen", f"after {CALIBRATION_POINTS}"),
        (
            (group.system, group.engine, group.precision, ", ".join(group.models), str(group.points),
             *cells(group.tpot), filtered(group.tpot_filtered, group.points), *cells(group.ttft)[:2], _unseen(group),
             cells(group.calibrated)[0])
            for group in groups
        ),
    )  # fmt: skip


def _chips(chips: Iterable[Chip]) -> str:
    return table(
        ("Chip", "Models", "n", "TPOT mean", "median", "p90"),
        (
            (chip.system, "mixture" if chip.has_experts else "dense", str(chip.tpot.points), *cells(chip.tpot))
            for chip in chips
        ),
    )


def _small(groups: Iterable[Group]) -> str:
    return table(
        ("Hardware", "Engine", "Precision", "Models", "n", "chip unseen", "cross-validated"),
        (
            (
                group.system,
                group.engine,
                group.precision,
                ", ".join(group.models),
                str(group.points),
                _unseen(group),
                cells(group.tpot_uncounted)[0],
            )
            for group in groups
        ),
    )


def _unseen(group: Group) -> str:
    return percent(group.unseen.mean) + ("" if group.is_engine_seen else " (datasheet)")
