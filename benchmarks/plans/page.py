"""The page of the judged plans: each case with its fleet, what it kept, and what the cheapest fleet costs."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.plans.cases import CHIPS, LEVELS, SHARE, Case
from benchmarks.plans.judge import JUDGED_LOG, OPTIMISM, PLANNED_LOG, Judgement

PAGE = Path("docs/plan-accuracy.md")
DEARER_MAX = 0.25  # that is aimed at


def page(judgements: Sequence[Judgement]) -> str:
    """Markdown, to be wrapped."""
    kept = sum(one.judged_share >= SHARE for one in judgements)
    as_cheap = sum(_dearer(one) < 0.005 for one in judgements)
    levels = "; ".join(f"*{name}* {slo.ttft_s * 1000:g} ms, {slo.itl_s * 1000:g} ms" for name, slo in LEVELS.items())
    return f"""# How good plans are

`make bench-plans` plans {len(judgements)} fleets, holds each against the simulator on traffic that it was not planned
with, and looks for a cheaper one among all there are. **{kept} of {len(judgements)} kept the promise of {SHARE:.0%}**;
{as_cheap} were the cheapest fleet there is, and **{_over(judgements)}**.

Five models, two of them mixtures; eight chips ({", ".join(CHIPS)}) at every width; three service levels ({levels},
first token and token, {SHARE:.0%} of requests within both); chat (500 tokens in, 160 out, with long tails) and
documents (2,500 in, 250 out, three times the time to the first token, and no MI300X to be had). Plans are those of
`heterodyne plan mix` on a log of {PLANNED_LOG:,} requests; *kept* is the share within both times when {JUDGED_LOG:,}
requests of another log come, with another seed of the router.

![What every plan rents, by dollars an hour, and how near it is to the cheapest fleet](images/plan-fleets.svg)

| Model | Level | Traffic | Fleet | USD/h | Kept | Cheapest found | USD/h | Dearer |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(map(_row, judgements))}

**The cheapest fleet** is looked for among all that cost less than the plan: every number of every kind of replica that
another does not replace, less those that could not carry the traffic on paper (each replica at {OPTIMISM:g} times the
rate at which its *mean* times are just within the level), less those that have no more of anything than one that
failed. The rest is simulated on the judging traffic, the cheapest first,
until one keeps the promise: {_searched(judgements)}. A plan keeps the promise on the log it was made with, with a
tenth of the misses to spare and busy stretches included, and at most twice the misses with 5 % of every replica more
in use (`--headroom`); the cheapest fleet has nothing to spare. Where replicas are whole nodes that can be one node's
price.

A plan from a log took {_cpu(judgements)} of processor time.

Both the plan and its judge have the performance model's step times as predicted (`--quantile` takes slower ones, for
both): the page says how well plans use them, not how near they are to silicon, which is in
[physics-accuracy.md](physics-accuracy.md).
"""


def _over(judgements: Sequence[Judgement]) -> str:
    dearest = max(map(_dearer, judgements))
    over = sum(_dearer(one) > DEARER_MAX + 1e-9 for one in judgements)
    if not over:
        return f"none was more than {dearest:.0%} dearer"
    return f"{over} of {len(judgements)} cost more than {DEARER_MAX:.0%} above it, {dearest:.0%} at most"


def _row(one: Judgement) -> str:
    case: Case = one.case
    return (
        f"| {case.model} | {case.level} | {case.traffic.name} {case.requests_per_s:g}/s | {_words(one.fleet)} | "
        f"{one.usd_per_hour:.2f} | {one.judged_share:.2%} | {_words(one.cheapest)} | {one.cheapest_usd_per_hour:.2f} | "
        f"{_dearer(one):.0%} |"
    )


def _words(fleet: dict[str, int]) -> str:
    return ", ".join(f"{count} of {name}" for name, count in fleet.items())


def _dearer(one: Judgement) -> float:
    return one.usd_per_hour / one.cheapest_usd_per_hour - 1.0


def _cpu(judgements: Sequence[Judgement]) -> str:
    """In the middle and at most."""
    seconds = sorted(one.cpu_s for one in judgements)
    return f"{median(seconds):.1f} s in the middle and {seconds[-1]:.0f} s at most"


def _searched(judgements: Sequence[Judgement]) -> str:
    simulations = sum(one.searched for one in judgements)
    cut = sum(not one.is_whole for one in judgements)
    return f"{simulations} fleets in all" + (f"; {cut} searches were too long and were cut" if cut else "")
