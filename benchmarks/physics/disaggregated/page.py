"""The section on prompts and answers on replicas apart."""

from statistics import median

from benchmarks.physics.accuracy import CALIBRATION_POINTS
from benchmarks.physics.disaggregated.report import SplitReport
from benchmarks.physics.tables import cells, counts, percent, table


def split_section(report: SplitReport) -> str:
    """Groups, how they were scored, and the rows."""
    parts = (
        "## Prompts and answers on replicas apart\n",
        INTRODUCTION,
        table(
            ("All rows", "n", "mean", "median", "p90"),
            (
                ("TPOT, nothing of the row known", str(report.tpot.points), *cells(report.tpot)),
                (
                    "TPOT, how full the decode replicas are is known",
                    str(report.tpot.points),
                    *cells(report.tpot_filled),
                ),
                ("TTFT, nothing of the row known", str(report.tpot.points), *cells(report.ttft)),
            ),
        ),
        _groups(report),
        READING,
        counts(report.rows),
    )
    return "\n".join(parts)


def split_line(report: SplitReport) -> tuple[str, ...]:
    """For the summary beside the headline."""
    across = [group.tpot_across.mean for group in report.groups if group.tpot_across]
    before = [group.tpot.mean for group in report.groups]
    return (
        f"prompts and answers apart, nvidia, {len(before)} groups, {len(across)} of them cross-validated",
        str(report.tpot.points),
        percent(median(before)),
        percent(median(across)),
        percent(max(across)),
    )


INTRODUCTION = """\
The rows of the silicon sample that the headline leaves out as *prefill and decode apart*. A decode replica has no
prompts between its tokens: a TPOT is one bare decode step. How full it is follows from the loop: requests pass
the prefill replicas no faster than those compute prompts, the rest of the concurrency sits in the decode replicas,
and by Little's law a request in neither waits. Prices and first-token behaviour come from the aggregated rows of the
same group, or of the engine on other chips (*family*) where the group has fewer than 16. No row of this section is
among those. *Cross-validated* fits the decode prices to the other folds, held towards the aggregated ones, and
again knows nothing of the row it is scored on.
"""

READING = f"""\
- **TPOT carries over** to the middle of these rows without any of them, also to chips that have no aggregated row.
  The mean is drawn up by wide expert parallelism (32 chips, thousands of requests), where we say too long a time,
  and by the FP8 rows of GB200 under SGLang, whose aggregated prices rest on 20 rows that fit badly themselves.
- **TTFT does not.** It is queueing and hand-over, both of which the rows leave to guess: with eight copies of
  attention a prompt occupies one of them, requests come in the bursts of a closed loop, and KV travels between
  replicas. The answers are too short more often than too long: measure before a target rests on them.
- **Labels.** `decode_batch_size` counts per replica and copy of attention: times both counts it is the concurrency
  asked for, in every row that states one. Versions such as 0.8.1.post1 under trtllm are those of the Dynamo
  container, not of the engine, so versions are not distinguished here. Whether a row guesses tokens ahead (MTP) is
  not known.
- **Choices made while looking at these scores:** a prompt waits for the same share of other prompts as in aggregated
  serving, counted per prefill replica; KV memory never binds, since the rows state the batch that ran.
- **Rows without a number of replicas** cannot be scored: the same concurrency may be in one replica or in eight.
  Groups with fewer than {CALIBRATION_POINTS} rows are not cross-validated.
"""


def _groups(report: SplitReport) -> str:
    return table(
        ("Hardware", "Engine", "Precision", "Models", "n", "rests on (rows)", "TPOT mean", "median", "p90",
         "filling known", "TTFT mean", "median", "TPOT cross-validated", "TTFT cross-validated, median"),
        (
            (group.system, group.engine, group.precision, ", ".join(group.models), str(group.points),
             f"{group.rests_on} ({group.fitted_points})", *cells(group.tpot), percent(group.tpot_filled.mean),
             *cells(group.ttft)[:2], cells(group.tpot_across)[0], cells(group.ttft_across)[1])
            for group in report.groups
        ),
    )  # fmt: skip
