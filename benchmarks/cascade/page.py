"""docs/cascade-quality.md from what `make bench-cascade` found."""

from collections.abc import Iterable, Sequence

from benchmarks.cascade.bounds import LOSS_SHARE_MAX
from benchmarks.cascade.chart import Panel
from benchmarks.cascade.evaluation import QUALITY_KEPT, Folded, Measured
from benchmarks.cascade.judged_gsm8k import WAYS
from benchmarks.cascade.results import PROMPT, CascadeResults
from benchmarks.machine import describe
from heterodyne.routing.cascade.risk import BoundKind

ROUTELLM_SAVED = {"MMLU": 0.45, "GSM8K": 0.35}  # calls saved at 95 % of GPT-4's quality, as its authors report
SHOWN_WAYS = (PROMPT, *(way.name for way in WAYS[:3]))  # those that somebody would do
HALF = 0.5
SHOWN_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)

HEAD = """\
# What cascades keep of a big model's quality

Written by `make bench-cascade ARGS="--data FOLDER"`; do not edit. The code is in
[routing/cascade](../src/heterodyne/routing/cascade), this measurement in
[benchmarks/cascade](../benchmarks/cascade), how to use it in the [guide](guides/cascades.md). The data are
public answers of models that are not part of this repository.

Two ways to save a big model's price: a **router** that reads the prompt alone, and a **cascade** that asks
the cheap model first and judges its answer. "On the curve" is how RouteLLM reports: the threshold is read off
the rows that are measured. "With the bound" is what a user gets: the threshold comes from other rows, and
keeps a promise.
"""

SETS = """
| Set | Prompts | Cheap | Big | Split by |
|---|---|---|---|---|
| GSM8K (RouteLLM) | 1,319, half held back | Mixtral 8x7B | GPT-4 Turbo | hash of the prompt |
| MMLU (RouteLLM) | 14,042, a quarter held back | Mixtral 8x7B | GPT-4 Turbo | hash of the prompt, and by subject |
| nine models (LLMRouter) | 5,608, a quarter held back | Gemma 2 9B | Nemotron 51B | hash of the prompt, and by source |

Dollars: $24.7 and $0.24 a million tokens for GPT-4 and Mixtral as in RouteLLM's paper, list prices for the
nine models. No set has tokens: four characters are taken for one, an MMLU answer for two tokens, and 200
tokens for each answer of the nine models. No set has times, so no milliseconds are reported here;
`heterodyne cascade report` does so where rows have them.
"""

MEASURED = """
## On the curve, at 95 % of the big model's quality

The least share of big calls, and of dollars, with which {kept:.0%} of the big model's quality is kept. All
rows of the set in five folds by a hash of the prompt, each scored by what the other four taught; in brackets
nine in ten resamples of the rows. Big calls are those of a ranking by risk, dollars those of a ranking by
risk for the price of the big answer. "By lot" sends random prompts to the big model. Gap recovered is
RouteLLM's APGR: 50 % by lot.

RouteLLM's routers learned from other data, with a small part like MMLU's, and ours from rows of the same set,
as an operator's would: the comparison flatters ours. With subjects left out, further down, it does not.
"""

MEASURED_NOTES = """
What the judges of GSM8K see: whether Mixtral's answer ends with the `####` that it was asked for, whether its
sums are right when they are done again, which numbers of the question it makes no use of, how many steps it
takes, whether its result is a fraction of whole numbers, and whether other models come to the same result.
Whoever knew of each answer whether GPT-4's is better would keep {kept:.0%} of the quality for 16 % of the
dollars (of 22 % with both samples): that is the most that a better judge could save. Answers without the
mark are mostly counted as wrong by RouteLLM's grader, so a part of what is won there is that of a strict
grader. OpenAI's older 6B and 175B models stand in for further cheap samples; their verified solutions are the
best of a hundred samples and cost more than asking GPT-4, so that row shows what better samples would be
worth and nothing that one would do.
"""

BOUNDED = """
## With the threshold that the bound chose

What `heterodyne cascade fit` with a bound of {loss:.0%} and a confidence of 90 % did on rows that were held
back: scores from one half of the other rows, the threshold from their other half, nothing from these. A
confident bound keeps fewer cheap answers than the curve would allow, the more so the fewer rows it has. The
quality is that of these rows, with its standard error; the promise is about the traffic they come from. "On
their curve" is the least that would have kept {kept:.0%}, read off these rows.
"""

LEFT_OUT = """
## Subjects and sources that were left out

All rows of the set, each scored by a router that saw nothing of its subject or source (five folds).
"""

BOUNDS = """
## Whether the bound holds

{draws} calibrations each. The held-back rows are taken for the whole of the traffic and drawn from with
replacement, so that the true loss of each threshold is known: "broken" is the share of calibrations whose
loss is above the bound. "Broken on the other half" calibrates on one random half of the held-back rows and
looks at the other, whose own chance is included: it is no test of the promise. `on_average` promises the mean
alone.
"""

SHIFT = """
A bound holds for traffic like that of its calibration. Calibrated on one half of the subjects or sources and
used on the other half, {trials} times:
"""

FRUGAL = """
## FrugalGPT

Its published summaries have accuracy and cost over whole test sets, and no answers by prompt, so **nothing of
ours can be run on its tasks, and the claim to be better is not tested**. What they say, beside the best
single model of each task:
"""

LOOKED_AT = """
## What was decided by looking

- The label of the router (cheap wins, ties half) among three and its penalty among four, on MMLU. By a slip,
  the quarter of MMLU that is held back here was among the rows of that first trial.
- Ranking by risk for the price, after calls fell on MMLU and dollars did not: risky prompts there are long ones.
- The arithmetic judge and the final mark come from looking at development rows of GSM8K. The judges `left_out`,
  `steps` and `whole_result` are three of six that were tried on these rows in five folds, where the answer alone
  took 54 % of the dollars without them and 36 to 38 % with them; length, what stands behind the result and whether
  the result is that of the last sum added little beside them. These rows are half of those of the five folds on
  top, so believe the held-back ones.
- An order of thresholds by promise instead of from strict to lenient was tried and dropped: it changed nothing.
- The pair of the nine models was chosen by prices and by mean scores of all rows: the cheapest one, and the
  best one. Where its sources begin was read off its prompts.
- Held-back rows were measured twice: after the first time, kinds of asking were found in one pass instead of
  nine, and 4,000 characters of a prompt are read instead of 16,000, both for speed; and the five folds were
  added, because a quarter of GSM8K teaches little. Their figures are better than those of the held-back rows,
  which were meant for the verdicts first: believe the worse ones. No setting was chosen by either. They were
  measured a third time when the judges `left_out`, `steps` and `whole_result` had been chosen.
"""


def rendered(results: CascadeResults) -> str:
    """The page."""
    return "".join(
        [
            HEAD,
            "\n## Pass or fail\n",
            *_verdicts(results),
            SETS,
            MEASURED.format(kept=QUALITY_KEPT),
            *_folded_table(results.folded),
            MEASURED_NOTES.format(kept=QUALITY_KEPT),
            "\n![Quality kept by share of big calls, for GSM8K, MMLU and nine models](images/cascade-quality.svg)\n",
            *_curve_table(results.folded),
            BOUNDED.format(loss=LOSS_SHARE_MAX, kept=QUALITY_KEPT),
            *_bounded_table(results.measured),
            LEFT_OUT,
            *_folded_table(results.left_out),
            BOUNDS.format(draws=500),
            *_bounds_table(results),
            SHIFT.format(trials=results.shifts[0].trials),
            *_shift_table(results),
            FRUGAL,
            *_frugal_table(results),
            f"\n## What a decision takes\n\nMedians on {describe()}, CPU time.\n",
            *_table(("What", "µs"), ((one.what, f"{one.us:,.0f}") for one in results.timings)),
            LOOKED_AT,
        ]
    )


def panels(results: CascadeResults) -> list[Panel]:
    """Of the picture: ways that save calls."""
    names = list(dict.fromkeys(one.set_name for one in results.folded))
    return [
        Panel(
            title=name,
            curves=tuple(
                (one.way, one.curve) for one in results.folded if one.set_name == name and "all four" not in one.way
            ),
        )
        for name in names
    ]


def _verdicts(results: CascadeResults) -> list[str]:
    others = [
        *_bound_verdicts(results),
        ("better than FrugalGPT's published curves", "its answers by prompt are not here", "not tested"),
    ]
    return [
        f"\n{QUALITY_KEPT:.0%} of the quality for at most half the dollars:\n",
        *_half_cost_table(results),
        "\nMore calls saved at the same quality than RouteLLM's routers:\n",
        *_routellm_table(results),
        *_table(("Other claims", "Found", "Verdict"), others),
    ]


def _half_cost_table(results: CascadeResults) -> list[str]:
    held = {(one.set_name, one.way): one for one in results.measured if one.saves_usd}
    rows = []
    for one in results.folded:
        if one.way in SHOWN_WAYS:
            other = held[one.set_name, one.way]
            kept, usd = other.outcome.quality_kept, other.outcome.usd_share
            bounded = f"{kept:.1%} ± {other.quality_kept_error:.1%} for {usd:.0%}"
            rows.append(
                (
                    f"{one.set_name}, {one.way}",
                    f"{one.usd_share:.1%}: {_passed(one.usd_share <= HALF)}",
                    f"{other.usd_share:.1%}: {_passed(other.usd_share <= HALF)}",
                    f"{bounded}: {_passed(usd <= HALF and kept >= QUALITY_KEPT)}",
                )
            )
    return _table(("", "On the curve, five folds", "On the curve, held back", "With the bound, held back"), rows)


def _routellm_table(results: CascadeResults) -> list[str]:
    held = {(one.set_name, one.way): one.big_share for one in results.measured if not one.saves_usd}
    left_out = {(one.set_name, one.way): one.big_share for one in results.left_out}
    rows = []
    for one in results.folded:
        published = ROUTELLM_SAVED.get(one.set_name)
        if published is not None and one.way in SHOWN_WAYS:
            place = one.set_name, one.way
            shares = (one.big_share, held[place], left_out.get(place))
            verdicts = (
                "-" if share is None else f"{1 - share:.1%}: {_passed(1 - share > published)}" for share in shares
            )
            rows.append((f"{one.set_name}, {one.way}", f"{published:.0%}", *verdicts))
    return _table(("", "RouteLLM", "Five folds", "Held back", "Subjects left out"), rows)


def _bound_verdicts(results: CascadeResults) -> list[tuple[str, str, str]]:
    confident = [one for one in results.bounds if one.bound.kind is BoundKind.CONFIDENT]
    worst = max(one.broken_share / (1 - one.bound.confidence) for one in confident)
    lost = max(one.loss_share_mean for one in results.bounds if one.bound.kind is BoundKind.ON_AVERAGE)
    return [
        (
            "a confident bound is broken no more often than promised",
            f"at most {worst:.0%} as often as allowed",
            _passed(worst <= 1),
        ),
        (
            f"a bound of {LOSS_SHARE_MAX:.0%} on average holds on average",
            f"at most {lost:.1%} lost",
            _passed(lost <= LOSS_SHARE_MAX),
        ),
    ]


def _folded_table(folded: Sequence[Folded]) -> list[str]:
    return _table(
        ("Set", "Judged by", "Big calls", "By lot", "Dollars", "Gap recovered"),
        (
            (
                one.set_name,
                one.way,
                _with_range(one.big_share, one.big_share_range),
                f"{one.curve.big_share_by_chance(QUALITY_KEPT):.0%}",
                _with_range(one.usd_share, one.usd_share_range),
                f"{one.curve.gap_recovered:.0%}",
            )
            for one in folded
        ),
    )


def _with_range(share: float, low_high: tuple[float, float]) -> str:
    return f"{share:.0%} ({low_high[0]:.0%}-{low_high[1]:.0%})"


def _curve_table(folded: Sequence[Folded]) -> list[str]:
    return _table(
        ("Quality kept with big calls of", *(f"{share:.0%}" for share in SHOWN_SHARES)),
        (
            (
                f"{one.set_name}, {one.way}",
                *(f"{one.curve.quality_at(share) / one.curve.big_quality:.1%}" for share in SHOWN_SHARES),
            )
            for one in folded
        ),
    )


def _bounded_table(measured: Sequence[Measured]) -> list[str]:
    return _table(
        (
            "Set",
            "Judged by",
            "To save",
            "Rows of the bound",
            "Rows",
            "Quality kept",
            "Big calls",
            "Dollars",
            "On their curve",
        ),
        (
            (
                one.set_name,
                one.way,
                "dollars" if one.saves_usd else "calls",
                f"{one.fitted.card.bounded_rows:,}",
                f"{one.rows:,}",
                f"{one.outcome.quality_kept:.1%} ± {one.quality_kept_error:.1%}",
                f"{one.outcome.big_call_share:.0%}",
                f"{one.outcome.usd_share:.0%}",
                f"{one.usd_share:.0%} of dollars" if one.saves_usd else f"{one.big_share:.0%} of calls",
            )
            for one in measured
        ),
    )


def _bounds_table(results: CascadeResults) -> list[str]:
    return _table(
        ("Set", "Promise", "Rows", "Broken", "Broken on the other half", "Mean loss", "Kept cheap"),
        (
            (
                f"{one.set_name}, {one.way}",
                f"{one.bound.confidence:.0%} confident" if one.bound.kind is BoundKind.CONFIDENT else "on average",
                f"{one.rows:,}",
                f"{one.broken_share:.1%}",
                f"{one.broken_on_rest_share:.1%}",
                f"{one.loss_share_mean:.1%}",
                f"{one.kept_share_mean:.0%}",
            )
            for one in results.bounds
        ),
    )


def _shift_table(results: CascadeResults) -> list[str]:
    return _table(
        ("Set", "Broken", "Mean loss", "Worst loss"),
        (
            (one.set_name, f"{one.broken_share:.0%}", f"{one.loss_share_mean:.1%}", f"{one.loss_share_worst:.1%}")
            for one in results.shifts
        ),
    )


def _frugal_table(results: CascadeResults) -> list[str]:
    return _table(
        ("Task", "Best single model", "Its accuracy", "FrugalGPT's dollars at 95 %", "at 100 %"),
        (
            (
                one.task,
                one.best_single,
                f"{one.best_accuracy:.1%}",
                "-" if one.usd_share_at_95 is None else f"{one.usd_share_at_95:.1%}",
                "-" if one.usd_share_at_100 is None else f"{one.usd_share_at_100:.1%}",
            )
            for one in results.frugal
        ),
    )


def _passed(is_passed: bool) -> str:
    return "pass" if is_passed else "**fail**"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return ["\n", *(f"{line}\n" for line in lines)]
