"""The report as a page for people: docs/physics-accuracy.md."""

from collections.abc import Iterable

from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    CALIBRATION_RIDGE,
    DRAWS,
    RIDGE,
    TRANSFER_RIDGE,
    VERSION_POINTS,
)
from benchmarks.physics.argonne.first_tokens import FirstTokens
from benchmarks.physics.argonne.page import batch_section, vendor_lines
from benchmarks.physics.argonne.report import BatchReport
from benchmarks.physics.disaggregated.page import split_line, split_section
from benchmarks.physics.disaggregated.report import SplitReport
from benchmarks.physics.pool import MIXTURE_RIDGES, NARROW_RIDGE
from benchmarks.physics.report import Cell, Chip, Report
from benchmarks.physics.split_tables import (
    cells_table,
    first_tokens_table,
    headline,
    parts_table,
    ranges_table,
    strangers_table,
)
from benchmarks.physics.splits import QUEUE_BUSY
from benchmarks.physics.spreads import ScoredSpreads
from benchmarks.physics.tables import cells, counts, percent, table
from heterodyne.physics.split import Split

HEAD = "# How right the performance model is\n\nWritten by `make bench-physics`; do not edit.\n"


def render(
    report: Report,
    far: ScoredSpreads,
    batches: BatchReport,
    firsts: tuple[FirstTokens, ...],
    split: SplitReport,
) -> str:
    """The whole page."""
    cost = (
        f"One decode step costs {report.evaluation_us:.1f} µs of pure Python, laying a model out on chips "
        f"{report.placement_us:.1f} µs, and laying out and evaluating 64 candidates {report.sweep_ms:.2f} ms.\n"
    )
    counted = [cell for cell in report.cells if cell.is_counted]
    parts = (
        HEAD,
        headline(report),
        HEADLINE,
        BESIDE,
        _beside(batches, split),
        cost,
        "## Ranges\n",
        RANGES,
        ranges_table(report.spreads),
        RANGE_PARTS,
        parts_table(report.spreads),
        STRANGERS,
        strangers_table(far),
        "## First tokens\n",
        FIRST_TOKENS,
        first_tokens_table(report),
        "## Dense models\n",
        cells_table([cell for cell in counted if not cell.has_experts]),
        "## Mixture models\n",
        MIXTURES,
        cells_table([cell for cell in counted if cell.has_experts]),
        "## Chips left out\n",
        _chips(report.chips),
        f"## Groups with fewer than {CALIBRATION_POINTS} points\n",
        SMALL,
        _small([cell for cell in report.cells if not cell.is_counted]),
        "## Rows\n",
        counts(report.rows),
        "## Method\n",
        METHOD,
        batch_section(batches, firsts),
        split_section(split),
    )
    return "\n".join(parts)


HEADLINE = """\
Each row is predicted from rows that do not share with it what the first column names, wherever else those ran: a model
left out was seen on no chip, under no engine, at no precision. Its nearest relatives answer for it, as a profile is
looked up: the model there, other models on the chip under the engine, the engine on other chips. A *group* is one
model at one precision on one chip under one engine. Folds by setup alone, which this page showed before, leave the
model on both sides: what they give is the first line. For a model that nobody has measured, rows of others add next
to nothing to datasheets and priors: what is left is the engine's kernels for that very model, and a few points of the
replica itself are worth more than all of it.
"""

BESIDE = """\
All of it is NVIDIA silicon under aggregated serving with engines of 2025 and later. Beside it, from sections further
down that it does not contain: whole batches of 2024 on nine kinds of hardware, and prompts apart from answers.
*Before* is scored with prices that none of these rows made.
"""

RANGES = """\
A prediction is a number and a range: measured times lay between *low* and *high* times the predicted one for 80 of 100
rows that no fit had seen, and half of them below *middle*. The split is the one that matches what a prediction rests
on; plans, the simulator and `heterodyne.physics.spread_catalogue.spreads_of` take it from `physics/data/spreads.toml`,
and every profile in `physics/data/profiles.toml` names its split and its number of rows. *Covers* counts rows by
spreads that their own part (the model, layout, version, chip or group left out) had no part in.

The rows of a model are off by a share that they have in common, so the 80 % of other models' rows hold too few of it.
How many too few is asked of the rows themselves: each part is left out of the quantiles in turn, and what 80 % of all
the rows left out need beyond them is added at both ends (conformal intervals with parts for folds). For *covers* all of
that is done again without the part it is counted on, the addition too. Seventeen forms were tried; this is the plainest
of those with 75 to 85 % in ten of the twelve lines of mixtures. Figures of the three dense models were in sight.

*As named* is the share of rows for which, with their part left out, rows are left as near as the line says: of the
model there for a version, of the chip for a model, of the engine for a chip. The others were predicted from further
away, and make the line wider than its name. Where most were, the line has the ranges of the next wider one; *covers* is
still that of its own.
"""

RANGE_PARTS = """\
By part, since rows of one part stand or fall together: with three of them, one more or less is a third of the rows,
and the share in the table above is known to about so much. A part that lies off to one side of all the others stays
outside of ranges that they make, unless those are so wide that they say nothing.
"""

STRANGERS = """\
Chips of another maker than those a profile was measured on have a range of their own. It is that of the static batches
of 2024 below, on AMD and Intel, with prices of NVIDIA's chips under the same engine; what NVIDIA's own chips took
longer then, in the middle, is taken off as the engine's age. Their first tokens were not timed: they are given the
range of a chip left out, as much wider and later as TPOT is.
"""

FIRST_TOKENS = f"""\
A row counts as one *without queueing* when all its sequences fit into memory and others' prompts are predicted to take
less than {QUEUE_BUSY:.0%} of a loop. A first token takes a fixed time, a multiple of its own prompt's, some of the
steps in between, and, with queueing, a share of the prompts in front; all four from rows of the nearest level. The rows
give one number for a whole run (whose share of the burst at its start is not known), so the distribution is that of
runs: its middle and upper end are in the table of ranges. Where the model was never seen the fixed time is that of
other models, and that is most of the error. Shipped profiles give a prompt that comes alone at least its own time,
and the steps that pass in front of it where nobody else decodes too.

The first token of a prompt does not depend on how long its answer is. Rows of the same replica, prompts and concurrency
tell where something else was timed with it: in a sweep of which most first tokens are half as late
again before answers of one length as before those of another (25 to 40 steps where their peers have 6 to 20, as of a
server that streams twenty tokens at a time). They are neither taught nor scored here; with them, dense models without
queueing stood at 13.6 % of groups and 17.2 % of rows. Their token times count as all others do.
"""

MIXTURES = """\
Terms that mixtures have and dense models do not, and where their shape comes from (kernel tables of
`aiconfigurator_vllm_ops_*`, H100 and H200):

- **Experts' products** have a price of their own. Tables: between 2048 and 8192 tokens, grouped products take 2.9 to
  5.3 times the time of a large one (sixteen bits and block FP8), so 4.5 is the prior where 1.25 stood.
- **Experts touched.** Tables: with routing by a power law, 4 to 48 tokens take 1.0 times what reading the experts of
  random routing takes, plus 30 to 50 µs a layer. So random routing it stays; the 32 µs prior too.
- **Imbalance.** Experts dealt out whole are hit by chance, and the fullest chip is waited for: the mean and
  sqrt(2 ln(EP) p (1-p) / n) more, without a price.
- **All-to-all** only where attention is copied (DP): with TP attention every chip has every token, and the sum after
  the experts brings them back. Experts cut by tensor under DP gather all tokens instead.
- **Kernels launched.** A layer of latent attention launches half as many again as a plain one (two compressions, two
  expansions, their norms), one of linear attention likewise, a shared expert half as many as the mixture itself.
- **Latent decode** attends to the latent as it is kept: 128 heads over one latent may take longer to multiply than
  to read, and takes the longer of the two.

Tried and left out, since groups left out gained nothing: reading all experts once for each chunk of a prompt; slower
reads of four-bit weights on chips that only store them (tables disagree: 0.9 to 1.6 times in one version, 2.9 to 5.7
in the one before); latencies of sums that grow with TP (tables: 4.4 µs for two chips, 4.7 for eight); ten times the
latency for an all-to-all. What the tables explain and no term can: FP8 by tensor under vLLM on Hopper reads experts at
a fifth of the rate (5 to 7 times), which is why Qwen3-235B is predicted so much too fast.
"""

SMALL = """\
Fewer than the points one calibration takes: they are in no figure above and teach nobody. The GB200 rows contradict
themselves (TPOT goes from 8 to 42 ms between one request and two, and falls again with more), so no prices explain
them; counted, they would be the worst dense group.
"""

METHOD = f"""\
Points are the aggregated-serving rows of `aiconfigurator_silicon_sample_a.csv.xz` (NVIDIA, Apache-2.0; a steady
number of requests in a closed loop). A row's TPOT is one decode step of the running sequences plus the prompts
that come between two tokens: every answer beside ours brings one prompt. Each is a sum of ideal times (weights,
experts touched, KV, operations, collectives over the link) and counts (layers, sequences, steps), each times a
price from the profile. Sequences beyond what the KV memory holds wait.

- **Fit.** Nonnegative least squares on relative error, reweighted towards absolute error, held towards prices of the
  level before with a ridge of the squared share a term explains. No price falls below a quarter of its prior, so
  that no term is free on loads the points do not show.
- **Levels.** Dense: the engine (ridge {TRANSFER_RIDGE:g} towards published priors), the chip, the model, versions with
  {VERSION_POINTS} or more points ({RIDGE:g} each). Mixtures differ from each other more than chips and engines do: all
  of them together set the prices ({MIXTURE_RIDGES[0]:g}), every group with the same weight; an engine and then a chip
  move them only as far as their rows insist ({NARROW_RIDGE:g}); then the model and the version as above. Rows
  whose version is not said teach other models only where their group has no others: where TensorRT-LLM has both, they
  are as slow as the oldest that is named.
- **After {CALIBRATION_POINTS} points.** Prices of the engine's other chips, then {CALIBRATION_POINTS} points drawn with
  a seed and ridge {CALIBRATION_RIDGE:g} towards them; scored on the points not drawn, {DRAWS} draws.
- **Rows left out by their labels**, whatever our error on them: faster than weights, experts and KV can be read;
  waiting longer than answering though memory holds every sequence, so that the batch was smaller than it says (vLLM on
  H100, 512 requests at nearly the TPOT of four); and speculative decoding that no column names. The last are told by
  each other: TensorRT-LLM 1.1.0rc2.post2 answers DeepSeek on H200 in half the time it takes on B200, and the same load
  is there a second time, 1.7 times as slow. They would need an acceptance rate that nobody gives.
- **Labels put right.** One sweep ran every engine at its defaults, where SGLang and vLLM keep KV in sixteen bits. Read
  as FP8, SGLang's dense rows on H200 gave KV a price of 2.0 to 2.3; read rightly 1.2, and prices of TensorRT-LLM, which
  never saw them, miss them by 12 % instead of 24 %.
- **Shipped profiles** are fitted without rows beyond three robust sigma. Those of vLLM for dense models come from
  published median efficiencies, since the sample has no such rows. SGLang's entry for H100 in BF16 did too, and is
  withdrawn: its medians count KV of requests that cannot have fitted beside 65 GB of weights, of answers whose length
  is not said. The same reading of TensorRT-LLM's medians on H100, whose rows we have, is 20 % off on those rows, where
  its relatives' prices are 13 % off. SGLang on H100 now rests on its own rows on H200.
- **Choices made while looking at scores.** Experts' prices, all-to-all, imbalance, levels and label rules were chosen
  on every second group of mixtures, models left out: 19 % there in the middle at the start, 13 % then. The other
  groups, scored once at that point, had gone from 19 % to 21 %. Counting kernels and leaving rows without a version
  out of teaching followed, with all groups in sight. So the scores with a model left out are honest of the prices and
  flatter the form: on models unlike these expect nearer 20 %.
"""


def _beside(batches: BatchReport, split: SplitReport) -> str:
    return table(
        ("Beside the headline", "n", "before, median of groups", "cross-validated", "worst group"),
        (*vendor_lines(batches), split_line(split)),
    )


def _chips(chips: Iterable[Chip]) -> str:
    return table(
        ("Chip", "Models", "n", "TPOT mean", "median", "p90"),
        (
            (chip.system, "mixture" if chip.has_experts else "dense", str(chip.tpot.points), *cells(chip.tpot))
            for chip in chips
        ),
    )


def _small(cells: Iterable[Cell]) -> str:
    return table(
        ("Hardware", "Engine", "Precision", "Model", "n", "model", "chip", "everything"),
        (
            (cell.system, cell.engine, cell.precision, cell.model, str(cell.points),
             *(percent(cell.tpot[split]) for split in (Split.MODEL, Split.CHIP, Split.NOTHING)))
            for cell in cells
        ),
    )  # fmt: skip
