"""The report as a page for people: docs/physics-accuracy.md."""

from collections.abc import Iterable

from accuracy import CALIBRATION_POINTS, CALIBRATION_RIDGE, DRAWS, FOLDS, RIDGE, TRANSFER_RIDGE, VERSION_POINTS, Score
from accuracy_report import Chip, Group, Report

HEAD = "# How right the performance model is\n\nWritten by `make bench-physics`; do not edit.\n"


def render(report: Report) -> str:
    """The whole page."""
    dense, mixture = report.dense, report.mixture
    targets = _table(
        ("What (mean absolute error of TPOT)", "Dense", "Target", "Mixture", "Aim"),
        (
            ("cross-validated, median of groups", _percent(dense.cross_validated_median), "8 %",
             _percent(mixture.cross_validated_median), "15 %"),
            ("cross-validated, worst group", _percent(dense.cross_validated_worst), "13 %",
             _percent(mixture.cross_validated_worst), ""),
            ("a chip left out entirely, median of chips", _percent(dense.left_out_median), "15 %",
             _percent(mixture.left_out_median), ""),
            ("a chip left out entirely, worst chip", _percent(dense.left_out_worst), "15 %",
             _percent(mixture.left_out_worst), ""),
            (f"left out, then {CALIBRATION_POINTS} points, median of groups", _percent(dense.calibrated_median), "8 %",
             _percent(mixture.calibrated_median), ""),
            ("TTFT, cross-validated, median of groups", _percent(dense.ttft_median), "",
             _percent(mixture.ttft_median), ""),
        ),
    )  # fmt: skip
    cost = (
        f"One decode step costs {report.evaluation_us:.1f} µs of pure Python, laying a model out on chips "
        f"{report.placement_us:.1f} µs, and laying out and evaluating 64 candidates {report.sweep_ms:.2f} ms.\n"
    )
    parts = (
        HEAD,
        targets,
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
        _table(("Rows", "Count"), ((name, str(count)) for name, count in sorted(report.rows.items()))),
        "## Method\n",
        METHOD,
    )
    return "\n".join(parts)


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
  rows; nothing on this page scores them.
- **Choices made while looking at these scores:** the form of the terms, the three ridges (from steps of about three;
  the targets hold for ridges three times larger or smaller too) and which labels to put right. So read the
  cross-validation as that of the prices, not of the form.
- **TTFT** is the prompt's time, a share of the other prompts in front, half a step and a constant, and waiting
  for memory by Little's law. The rows mix warm-up bursts and steady state, which no physics tells apart: treat
  TTFT as queueing, to be corrected online.
"""


def _groups(groups: Iterable[Group]) -> str:
    return _table(
        ("Hardware", "Engine", "Precision", "Models", "n", "TPOT mean", "median", "p90", "without 3σ (n)", "TTFT mean",
         "median", "chip unseen", f"after {CALIBRATION_POINTS}"),
        (
            (group.system, group.engine, group.precision, ", ".join(group.models), str(group.points),
             *_score(group.tpot), _filtered(group), *_score(group.ttft)[:2], _unseen(group),
             _score(group.calibrated)[0])
            for group in groups
        ),
    )  # fmt: skip


def _chips(chips: Iterable[Chip]) -> str:
    return _table(
        ("Chip", "Models", "n", "TPOT mean", "median", "p90"),
        (
            (chip.system, "mixture" if chip.has_experts else "dense", str(chip.tpot.points), *_score(chip.tpot))
            for chip in chips
        ),
    )


def _small(groups: Iterable[Group]) -> str:
    return _table(
        ("Hardware", "Engine", "Precision", "Models", "n", "chip unseen", "cross-validated"),
        (
            (
                group.system,
                group.engine,
                group.precision,
                ", ".join(group.models),
                str(group.points),
                _unseen(group),
                _score(group.tpot_uncounted)[0],
            )
            for group in groups
        ),
    )


def _unseen(group: Group) -> str:
    return _percent(group.unseen.mean) + ("" if group.is_engine_seen else " (datasheet)")


def _filtered(group: Group) -> str:
    kept = group.tpot_filtered
    return f"{_percent(kept.mean)} (-{group.points - kept.points})" if kept else "–"


def _score(score: Score | None) -> tuple[str, str, str]:
    if score is None:
        return ("–", "–", "–")
    return (_percent(score.mean), _percent(score.median), _percent(score.p90))


def _percent(value: float) -> str:
    return f"{value:.1f} %"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = ("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows))
    return "\n".join(lines) + "\n"
