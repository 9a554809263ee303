"""docs/routing-bakeoff.md: what is compared, then each section with its targets."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from statistics import median

from msgspec import Struct

import benchmarks.routing.bakeoff_page as routing_bakeoff_page
import benchmarks.routing_live.page as routing_live_page
from benchmarks.machine import describe
from benchmarks.routing.bakeoff import GAUGE_INTERVALS_S, LARGE, Effort, Outcome
from benchmarks.routing.decision_cost import DecisionCost, LongPrompt, Pace
from benchmarks.routing.fleets import SLOWDOWN_MAX, SLOWDOWN_MIN
from benchmarks.routing.prediction import LEARNED_AFTER, RECOVERED, RECOVERY_LOAD, WINDOW, Accuracy, Recovery
from benchmarks.routing.prefix import FLEET, Found
from benchmarks.routing.target import Target, table

RECOVERED_WITHIN = 300  # requests of the pool
BASES = {
    "as before": ("ttft_before", "itl_before"),
    "as if it had been so from the beginning": ("ttft_settled", "itl_settled"),
}


class Run(Struct, frozen=True, kw_only=True):
    """Everything the page is made from."""

    day: str
    took_s: float
    effort: Effort
    outcomes: list[Outcome]
    accuracies: list[Accuracy]
    recoveries: list[Recovery]
    prefixes: list[Found]
    costs: list[DecisionCost]
    long_prompt: LongPrompt
    paces: list[Pace]


def render(run: Run) -> str:
    """The page."""
    return "\n".join(
        (
            _head(run),
            routing_bakeoff_page.section(run.outcomes),
            _prediction(run.accuracies, run.recoveries),
            _prefixes(run.prefixes),
            _costs(run.costs, run.long_prompt, run.paces),
            routing_live_page.read_section(Path(__file__).resolve().parents[1] / "routing_live" / "routing_live.json"),
        )
    )


def _head(run: Run) -> str:
    effort = run.effort
    fresh = ", ".join(f"`{name}`, which goes by them, every {1000 * s:g} ms" for name, s in GAUGE_INTERVALS_S.items())
    return f"""\
# Routing, against its peers

What the routing policies make of the same fleets and the same requests, in the simulator (`heterodyne simulate`) with
the router that serves traffic. `make bench-routing` repeats the run and rewrites this page; nothing here is typed by
hand.

Run of {run.day} on {describe()}: {run.took_s / 60:.0f} minutes, {effort.seeds} seeds.

- **Policies.** `slo` is the default, with nothing tuned; `cost` is the other of ours. Peers are the formulas and
  defaults of other systems as files of ours (`routing/peers/`), not their programs: what those cost or fail at is not
  shown here.
- **Fleets.** Llama 3.1 8B under vLLM, at the speeds of the performance model. A pool's steps take {SLOWDOWN_MIN:g} to
  {SLOWDOWN_MAX:g} times as long as the router's prior, drawn anew for every seed: the prior is not the answer, that has
  to be learned, and the time of learning counts.
- **Load** is a share of what the fleet sustains by the performance model, at its true speeds and with the mean lengths
  of the requests, nothing found in caches. The pace of a trace is scaled to it; its bursts stay.
- **Seeds** differ in the speeds, in the router's chances, and in the part of the trace: another place to begin, and for
  ServeGen another ten minutes and another draw.
- **Requests.** A minute of arrivals, but {effort.requests_min:,} to {effort.requests_max:,} requests: where they are
  short they come so often that a run lasts seconds (each table says how long). Fleets of more than {LARGE} replicas run
  two traces.
- **Service level.** First token within 1 s, for Mooncake's long prompts 3 s; 50 ms a token, the mean of each request.
  A request that misses either counts for nothing. All are counted, from the first.
- **Dollars.** The whole fleet at its list price from the first arrival to the last; what a queue takes to empty after
  that is not counted. Replicas are paid whatever they do, so this is about tokens within the service level.
- **Gauges.** The router hears what engines say of themselves every half second, each engine's every two seconds;
  {fresh}, its default.
"""


def _prediction(accuracies: Sequence[Accuracy], recoveries: Sequence[Recovery]) -> str:
    everything = [one for one in accuracies if one.pool == "all"]
    goals = [
        goal
        for one in everything
        for goal in (
            Target(what=f"TTFT, median error at load {one.load:g}", measured=100 * one.ttft_error, unit=" %", most=15),
            Target(what=f"ITL, median error at load {one.load:g}", measured=100 * one.itl_error, unit=" %", most=8),
            Target(
                what=f"TTFT within its 80 % interval at load {one.load:g}",
                measured=100 * one.ttft_covered,
                unit=" %",
                least=75,
                most=85,
            ),
            Target(
                what=f"ITL within its 80 % interval at load {one.load:g}",
                measured=100 * one.itl_covered,
                unit=" %",
                least=75,
                most=85,
            ),
        )
    ]
    goals += [goal for word, fields in BASES.items() for goal in _recovery_targets(recoveries, word, fields)]
    lines = [
        "## Prediction\n",
        "The small mixed fleet under the Azure trace, policy `slo`, all seeds. Of each pool the first "
        f"{LEARNED_AFTER} requests of a run are\nleft out; a pool that got no more than that in any run is not "
        "listed.\n",
        table(goals),
        "| load | pool | requests | TTFT error, median | TTFT covered | ITL error, median | ITL covered |",
        "|---:|---|---:|---:|---:|---:|---:|",
        *(
            f"| {one.load:g} | {one.pool} | {one.requests:,} | {one.ttft_error:.1%} | {one.ttft_covered:.1%} "
            f"| {one.itl_error:.1%} | {one.itl_covered:.1%} |"
            for one in accuracies
        ),
        "",
        "### A pool becomes twice as slow\n",
        f"At load {RECOVERY_LOAD:g}, half-way through, unannounced. Counted are that pool's requests from then "
        f"on, until the\nrunning median error of {WINDOW} of them is no more than {RECOVERED:g} times what it was "
        "*before*, or what it is in a run where\nthe pool has been as slow from the *beginning*; "
        f"{WINDOW} is the least there can be. The two need not agree: a pool that is\nslow gets fewer requests, and at "
        f"other moments. Runs in which the pool got fewer than {RECOVERED_WITHIN} requests after the change\nare left "
        "out, for they are too few. Medians of the other seeds, and the worst in brackets.\n",
        "| pool | seeds counted | TTFT, before | ITL, before | TTFT, beginning | ITL, beginning |",
        "|---|---:|---:|---:|---:|---:|",
        *(_recovery_row(recoveries, pool) for pool in _pools(recoveries)),
        "",
    ]
    return "\n".join(lines)


def _recovery_targets(recoveries: Sequence[Recovery], word: str, fields: Sequence[str]) -> tuple[Target, Target]:
    """The usual run, and every run: a median says nothing of those that take longest."""
    counted = [one for one in recoveries if one.seen >= RECOVERED_WITHIN]
    late = sum(any(_number(getattr(one, field)) > RECOVERED_WITHIN for field in fields) for one in counted)
    what = f"a pool becomes twice as slow, foretold {word}:"
    return (
        Target(
            what=f"{what} requests until then, median of seeds, slowest pool",
            measured=max(_slowest(recoveries, field) for field in fields),
            unit="",
            most=RECOVERED_WITHIN,
            digits=0,
        ),
        Target(
            what=f"{what} of {len(counted)} runs, those that took more than {RECOVERED_WITHIN}",
            measured=late,
            unit="",
            most=0,
            digits=0,
        ),
    )


def _recovery_row(recoveries: Sequence[Recovery], pool: str) -> str:
    columns = [_of_pool(recoveries, pool, field) for fields in BASES.values() for field in fields]
    parts = [f"{_middle(column)} ({_worst(column)})" for column in columns]
    seeds = sum(one.pool == pool for one in recoveries)
    return f"| {pool} | {len(columns[0])} of {seeds} | {' | '.join(parts)} |"


def _pools(recoveries: Sequence[Recovery]) -> list[str]:
    return list(dict.fromkeys(one.pool for one in recoveries if one.seen >= RECOVERED_WITHIN))


def _of_pool(recoveries: Sequence[Recovery], pool: str, field: str) -> list[int | None]:
    return [getattr(one, field) for one in recoveries if one.pool == pool and one.seen >= RECOVERED_WITHIN]


def _slowest(recoveries: Sequence[Recovery], field: str) -> float:
    """The pool whose median over seeds is the longest."""
    return max((median(map(_number, _of_pool(recoveries, pool, field))) for pool in _pools(recoveries)), default=inf)


def _number(requests: int | None) -> float:
    return inf if requests is None else requests


def _middle(requests: Sequence[int | None]) -> str:
    return _words(median(map(_number, requests)))


def _worst(requests: Sequence[int | None]) -> str:
    return _words(max(map(_number, requests)))


def _words(requests: float) -> str:
    return "never" if requests == inf else f"{requests:.0f}"


def _prefixes(found: Sequence[Found]) -> str:
    ours = [one for one in found if one.policy == "slo" and one.load <= 0.8]
    goals = [
        goal
        for one in ours
        for goal in (
            Target(
                what=f"{one.trace}, load {one.load:g}: hits against one endless cache",
                measured=100 * one.of_endless,
                unit=" %",
                least=90,
            ),
            Target(
                what=f"{one.trace}, load {one.load:g}: hottest replica against the mean",
                measured=one.hottest,
                unit=" ×",
                most=1.3,
                digits=2,
            ),
        )
    ]
    return "\n".join(
        [
            "## Prefixes\n",
            f"{FLEET}, both Mooncake traces from end to end. *Endless* is one cache that never forgets; *pooled* one "
            "as large as the\nmemory of all replicas together, with nothing running in it, that forgets what was "
            "wanted longest ago. How far pooled is\nbelow endless shows what memory costs; it is a measure, no bound: "
            "other ways to forget may find more. Load is the number of\nrequests inside a replica, over time. Where no "
            "replica keeps the SLO `slo` sends a request where it breaks the fewest,\nwhich may be one that is "
            "late already: its load is not meant to be even then.\n",
            *_memory(found),
            "",
            table(goals),
            "| trace | load | policy | hits | endless | pooled | of endless | of pooled | hottest | within |",
            "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|",
            *(
                f"| {one.trace} | {one.load:g} | {one.policy} | {one.hit_share:.1%} | {one.endless_share:.1%} "
                f"| {one.pooled_share:.1%} | {one.of_endless:.0%} | {one.of_pooled:.0%} | {one.hottest:.2f} × "
                f"| {one.within:.1%} |"
                for one in found
            ),
            "",
        ]
    )


def _memory(found: Sequence[Found]) -> list[str]:
    """What the target could be at all."""
    shares = {one.trace: one.pooled_share / one.endless_share for one in found}
    return [f"- {trace}: pooled finds {share:.0%} of what endless does." for trace, share in shares.items()]


def _costs(costs: Sequence[DecisionCost], prompt: LongPrompt, paces: Sequence[Pace]) -> str:
    limits_us = {8: 30, 64: 100}
    goals = [
        Target(
            what=f"decision among {one.replicas}{', overloaded' if one.is_overload else ''}",
            measured=1e6 * one.decide_s,
            unit=" µs",
            most=limits_us[one.replicas],
        )
        for one in costs
    ]
    goals.append(
        Target(what="decision for a 400 KB prompt", measured=1e3 * prompt.decide_s, unit=" ms", most=1.5, digits=2)
    )
    goals += [
        Target(
            what=f"simulated requests a second and core, 64 replicas, load {one.load:g}",
            measured=one.requests_per_s,
            unit="",
            least=10_000,
            digits=0,
        )
        for one in paces
    ]
    return "\n".join(
        [
            "## What a decision costs\n",
            "Prompts of 8 KB whose chains the index knows, four pools, about 20 requests on every replica. The best of "
            "seven rounds, a round\nbeing the median of 1,000 decisions. *Choose* names the replica; the decision also "
            "enters the request into the prefix index and the\nledger; its whole life is that and what is learned from "
            "its first token and its end. Overloaded is where no pool keeps the SLO,\nso that every replica is "
            "forecast.\n",
            table(goals),
            "| replicas | | choose µs | decision µs | whole life µs | forecast all |",
            "|---:|---|---:|---:|---:|---:|",
            *(
                f"| {one.replicas} | {'overloaded' if one.is_overload else ''} | {1e6 * one.choose_s:.1f} "
                f"| {1e6 * one.decide_s:.1f} | {1e6 * one.whole_s:.1f} | {one.least_harm_share:.0%} |"
                for one in costs
            ),
            "",
            f"Of the {1e3 * prompt.decide_s:.2f} ms for 400 KB, {1e3 * prompt.chain_s:.2f} ms are for hashing it.\n",
        ]
    )
