"""The page on roles."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.kv.fleets import NETWORKS, REPLICAS
from benchmarks.kv.results import AdviceRun, LayoutRun, PublishedRun, Results, SplitRun
from benchmarks.kv.roles import SHARE
from benchmarks.kv.splits import ANSWER, ARRIVALS_S, ITL_S, REQUESTS_MIN, TTFT_ALONE, TTFT_LEAST_S
from benchmarks.kv.widths import CHUNKED, SPLIT, STOPPING
from benchmarks.routing.target import Target, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kv-splits.md"
BEST = 0.9  # of what the best ratio sustains, that the advised one should
PROMISE = 0.3  # by which what was planned may lie beyond what is sustained


def splits_page(results: Results) -> str:
    """As far as it was measured."""
    return f"""# Prompts and answers on replicas of their own

{REPLICAS} simulated replicas of Llama 3.1 8B, each on one H100: all do both, or some compute prompts and hand
their KV to the others, which answer. The chips are the same, so goodput is goodput per dollar: the largest rate
at which {SHARE:.0%} of requests get their first token within {TTFT_ALONE:g} times what their prompt takes alone
(at least {TTFT_LEAST_S:g} s) and their others within {ITL_S * 1000:.0f} ms each. The planner's rates
([`role_rate.py`](../src/heterodyne/planning/mix/role_rate.py)) say how many replicas get which role; where they
say that a network does not carry it, the ratio is that of the fastest. Prompts are about as long as stated and
all new, answers have about {ANSWER} tokens, arrivals are Poisson. Mixed replicas compute prompts in chunks beside
their answers, as engines do now. Largest rates are found by halving, to about a tenth, in runs of {ARRIVALS_S:g} s
or {REQUESTS_MIN} requests: smaller differences are none. {results.at}, `make bench-kv`
({sum(results.seconds.get(part, 0.0) for part in ("splits", "published", "advice")) / 60:.0f} minutes of it).

![Goodput per dollar of split roles over mixed ones](images/kv-splits.svg)

## Where the lines cross

{_crossing(results.splits)}
{_largest(results.splits)}
Below the mixed replicas' largest rate both keep the SLO; what differs is the first token, which a hand-over
delays:

{_at_loads(results.splits)}
## Beside published figures

Every chip is used by each side as it likes best: replicas that do both at every width, two roles at widths and
ratios that the planner's rates put first, and at one width. A claim's ratio is of the best of each.

{_published(results.published)}
## The planner's ratio, and what the simulator finds

Lengths of recorded traces, nothing reused, {NETWORKS[0].name}. The limit of the first token is that of a prompt
longer than 95 % of the trace's. The advised ratio and those beside it were searched for their largest rates.

{_advice_targets(results.advice)}
{_advice(results.advice)}
## What is not shown

One model on one kind of chip, a single width, in the chart; roles on different chips, which Splitwise gains most
from; layers sent while others are computed; pipelines. A hand-over is one transfer that begins when the
prompt is done, and its replica's memory is reserved before.
"""


def _ratio(run: SplitRun) -> float:
    return run.split_requests_per_s / run.mixed_requests_per_s if run.mixed_requests_per_s else 1.0


def _crossing(runs: Sequence[SplitRun]) -> str:
    """In words, by network."""
    lines = []
    for network in dict.fromkeys(run.network for run in runs):
        won = list(dict.fromkeys(run.prompt_tokens for run in runs if run.network == network and _ratio(run) > 1.0))
        if won:
            best = max((run for run in runs if run.network == network), key=_ratio)
            lines.append(
                f"- {network}: splitting wins at {', '.join(f'{tokens:,}' for tokens in won)} tokens, by up to "
                f"{_ratio(best) - 1:.0%} at {best.prompt_tokens:,}."
            )
        else:
            lines.append(f"- {network}: splitting never wins.")
    return "\n".join(lines) + "\n"


def _largest(runs: Sequence[SplitRun]) -> str:
    lines = [
        "| prompt | network | prompts : answers | mixed, requests/s | split | ratio |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    first = {(run.prompt_tokens, run.network): run for run in runs}
    for (tokens, network), run in first.items():
        lines.append(
            f"| {tokens:,} | {network} | {run.prefilling} : {REPLICAS - run.prefilling} "
            f"| {run.mixed_requests_per_s:.1f} | {run.split_requests_per_s:.1f} | {_ratio(run):.2f} |"
        )
    return "\n".join(lines) + "\n"


def _at_loads(runs: Sequence[SplitRun]) -> str:
    lines = [
        "| prompt | network | load | mixed within | split within | mixed TTFT p90 | split TTFT p90 |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {run.prompt_tokens:,} | {run.network} | {run.load:g} | {run.mixed_within:.1%} | {run.split_within:.1%} "
        f"| {run.mixed_ttft_p90_s:.2f} s | {run.split_ttft_p90_s:.2f} s |"
        for run in runs
    ]
    return "\n".join(lines) + "\n"


def _published(runs: Sequence[PublishedRun]) -> str:
    parts = [_claim(run) for run in runs]
    parts.append(
        "What the papers say is the most that they saw in any setting, on engines of their day; a ratio below 1 here "
        "means that by this performance model the split loses on this shape. Largest rates are found to about a "
        "thirtieth here. That a vLLM of one width reads the KV of another is documented for dense models "
        "(NixlConnector's compatibility matrix); other engines have rules of their own."
    )
    parts.append(
        "DistServe's gain is not reproduced. It is against replicas of one chip whose answers stop for prompts (so its "
        "evaluation starts vLLM), and such replicas of two chips do three times as much here: with little time for "
        "the first token and much for the others, all chips had better compute prompts. Nor is the split much of one: "
        "where no replica does both, the router has a decode replica compute a prompt if that is the sooner first "
        "token, as it often is of prompts so short (of 250 requests at 6 a second, 51 were handed over on "
        "1 x 2 : 2 x 1, 23 on 2 x 1 : 2 x 1). So less is sustained there than the plan says."
    )
    return "\n\n".join(parts) + "\n"


def _claim(run: PublishedRun) -> str:
    split = _most(run, SPLIT)
    narrow = _most(run, SPLIT, one_width=True)
    words = [
        f"**{run.name}**: {run.said}. Source: {run.source}. Here, {run.asked}, {NETWORKS[0].name} a replica: two roles "
        f"sustain {split.requests_per_s:.1f} requests/s at best ({split.laid_out}), "
        f"{narrow.requests_per_s:.1f} at one width ({narrow.laid_out})"
    ]
    for kind, meant in ((CHUNKED, "replicas that do both"), (STOPPING, "those whose answers stop for prompts")):
        best, first = _most(run, kind), next(one for one in run.layouts if one.kind == kind and one.requests_per_s)
        words.append(
            f"{_times(split, best)} {meant} at their best width ({best.laid_out}: {best.requests_per_s:.1f})"
            + ("" if best is first else f" and {_times(split, first)} at {first.laid_out}")
        )
    return f"{words[0]}. That is {'; '.join(words[1:])}.\n\n{_layouts(run)}"


def _most(run: PublishedRun, kind: str, *, one_width: bool = False) -> LayoutRun:
    """The best of a kind."""
    fit = [one for one in run.layouts if one.kind == kind and (one.is_one_width or not one_width)]
    return max(fit, key=lambda one: one.requests_per_s)


def _times(one: LayoutRun, other: LayoutRun) -> str:
    return f"{one.requests_per_s / other.requests_per_s:.2f} times" if other.requests_per_s else "never kept by"


def _layouts(run: PublishedRun) -> str:
    lines = ["| | replicas x chips | planned, requests/s | sustained |", "|---|---:|---:|---:|"]
    lines += [
        f"| {one.kind} | {one.laid_out} | {one.planned_requests_per_s:.1f} | {one.requests_per_s:.1f} |"
        for one in run.layouts
    ]
    return "\n".join(lines)


def _advice_targets(runs: Sequence[AdviceRun]) -> str:
    if not runs:
        return ""
    return table(
        [
            Target(
                what="what the advised ratio sustains, of the best ratio's, worst trace",
                measured=100 * min(run.advised_requests_per_s / run.best_requests_per_s for run in runs),
                unit=" %",
                least=100 * BEST,
            ),
            Target(
                what="what was planned of it, above what it sustains, worst trace",
                measured=100 * max(run.planned_requests_per_s / run.advised_requests_per_s - 1 for run in runs),
                unit=" %",
                most=100 * PROMISE,
            ),
            Target(
                what="traces where planner and simulator agree on whether to split",
                measured=sum(_agree(run) for run in runs),
                unit=f" of {len(runs)}",
                least=len(runs),
                digits=0,
            ),
        ]
    )


def _agree(run: AdviceRun) -> bool:
    planned = run.planned_requests_per_s > run.mixed_planned_requests_per_s
    return planned == (run.advised_requests_per_s > run.mixed_requests_per_s)


def _advice(runs: Sequence[AdviceRun]) -> str:
    lines = [
        "| | advised | best | planned, split | it sustains | the best does | planned, mixed | sustained |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {run.shape} | {run.advised} : {REPLICAS - run.advised} | {run.best} : {REPLICAS - run.best} "
        f"| {run.planned_requests_per_s:.1f}/s | {run.advised_requests_per_s:.1f}/s | {run.best_requests_per_s:.1f}/s "
        f"| {run.mixed_planned_requests_per_s:.1f}/s | {run.mixed_requests_per_s:.1f}/s |"
        for run in runs
    ]
    return "\n".join(lines) + "\n"
