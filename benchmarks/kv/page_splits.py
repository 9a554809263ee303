"""The page on roles."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.kv.fleets import NETWORKS, REPLICAS
from benchmarks.kv.results import AdviceRun, PublishedRun, Results, SplitRun
from benchmarks.kv.roles import SHARE
from benchmarks.kv.splits import ANSWER, ARRIVALS_S, ITL_S, REQUESTS_MIN, TTFT_ALONE, TTFT_LEAST_S
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

{_published(results.published)}
## The planner's ratio, and what the simulator finds

Lengths of recorded traces, nothing reused, {NETWORKS[0].name}. The limit of the first token is that of a prompt
longer than 95 % of the trace's. The advised ratio and those beside it were searched for their largest rates.

{_advice_targets(results.advice)}
{_advice(results.advice)}
## What is not shown

One model on one kind of chip in the chart; roles on different chips, which Splitwise gains most from; layers
sent while others are computed; two widths for the two roles. A hand-over is one transfer that begins when the
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
    parts = []
    for run in runs:
        mixed, unmixed = run.mixed_requests_per_s, run.unmixed_requests_per_s
        against = f"{run.split_requests_per_s / mixed:.2f} times" if mixed else "never kept by"
        then = f"{run.split_requests_per_s / unmixed:.2f} times" if unmixed else "never kept by"
        parts.append(
            f"- **{run.name}**: {run.said}. Source: {run.source}. Here, {run.laid_out}, {NETWORKS[0].name}: the best "
            f"split ({run.prefilling} for prompts) sustains {run.split_requests_per_s:.1f} requests/s, {against} mixed "
            f"replicas with chunked prompts ({mixed:.1f}), {then} replicas that stop answering for a prompt, as the "
            f"engines of those comparisons did ({unmixed:.1f})."
        )
    parts.append(
        "\nWhat the papers say is the most that they saw in any setting, on engines of their day; a ratio below 1 here "
        "means that by this performance model the split loses on this shape. DistServe's gain is not reproduced: its "
        "placement searches widths and pipelines for each phase, this one keeps a single width and changes the ratio, "
        "by one to either side of what the planner advises."
    )
    return "\n".join(parts) + "\n"


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
