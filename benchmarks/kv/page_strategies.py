"""The page on strategies."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.kv.fleets import NETWORKS, REPLICAS, STORE_GB
from benchmarks.kv.results import Results, StrategyRun
from benchmarks.kv.strategies import (
    AGENTS_EACH,
    AUTO,
    FREE,
    MORE_SEEDS,
    PREFIX,
    REQUESTS,
    SEEDS,
    THROTTLED,
    TOOL_AGENT,
    TUNED_SEED,
)
from benchmarks.routing.target import Target, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kv-strategies.md"
NOISE = 0.02  # by which two runs may differ, and the most that slow links may cost
BETTER = 0.2  # that fast links must bring where
SHARED = 0.3  # of all prompt tokens, and more, could be reused
FAST = tuple(network.name for network in NETWORKS[:2])
Key = tuple[str, float, str]  # trace, load, network


def strategies_page(results: Results) -> str:
    """As far as it was measured."""
    cells = _cells(results.strategies)
    return f"""# Where the KV of a prompt comes from: strategies side by side

{REPLICAS} simulated replicas of Llama 3.1 8B, each on one H100, under recorded traffic; every strategy of
[`models.<name>.kv`](guides/kv.md) on the same chips for the same money. The router is the one that serves: it
knows links by their priors and by what its own transfers taught it. What moves takes its time in the simulator:
transfers share the network card at both ends, memory is reserved before they begin, and what is gone or late is
computed ([`simulator/`](../src/heterodyne/simulator)).

- **stateless, sticky, prefix** are what they were before KV moved; `prefix` is the default.
- **store** may copy a prompt from a replica that holds it, or from a store of {STORE_GB:,.0f} GB of host memory
  that all write what they compute to.
- **split** has some replicas compute prompts only, as many as the planner advises for the mean lengths, and the
  others answer.
- **auto** is free to do what pays, on replicas that do both.
- **{FREE}** is no way to serve: prompts without the tokens that any earlier one began with, too, as if those took
  no computing, no bringing and no memory wherever a request goes. What can be saved ends there.

Time to the first token is that of nine requests in ten, the SLO is 3 s and 50 ms a token, dollars are those of
the whole fleet for a million output tokens within the SLO. `load` is a share of what the fleet sustains with
nothing reused. Up to {REQUESTS:,} requests for each of the seeds {_listed(SEEDS)}, for {TOOL_AGENT}, of which there
are 1,000, {_listed(MORE_SEEDS)}; they begin in different places of the logs. The coding agents go through two
recorded sessions of TraceLab, {AGENTS_EACH} through each, and share what was cached before its first round. Choices
were made while looking at seed {TUNED_SEED}. A run without transfers is the same on every network. {results.at},
`make bench-kv` ({results.seconds.get("strategies", 0.0) / 60:.0f} minutes of it).

![TTFT p90 by network](images/kv-strategies.svg)

## What was to be shown

{_verdicts(cells)}
{_reading(cells)}
## Every cell

{_tables(results.strategies)}
## A link that is throttled

The network becomes {THROTTLED:.0f} times slower for the middle third of the run, unknown to the router; load
{results.throttled[0].load if results.throttled else 0:g}, {NETWORKS[0].name}. Plans that are under way then are given
up after three times what they were forecast to take and half a second, and their prompts are computed; the link
is left alone for a while and tried again.

{_rows(results.throttled)}
## What is not shown

Reading host memory takes nothing from the network there, nor from what the chip does; pinning what is being
copied is not simulated, so that a block may go while it is read. There are no failures here but of links, one
model and one kind of chip. The two sessions of the agents are few: how they come one beside the other is ours.
"""


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _cells(runs: Sequence[StrategyRun]) -> dict[Key, dict[str, StrategyRun]]:
    cells: dict[Key, dict[str, StrategyRun]] = {}
    for run in runs:
        cells.setdefault((run.trace, run.load, run.network), {})[run.way] = run
    return cells


def _best(ways: dict[str, StrategyRun]) -> tuple[float, float]:
    """The lowest TTFT and the lowest price of any single strategy."""
    single = [run for way, run in ways.items() if way not in {AUTO, FREE}]
    return min(run.ttft_p90_s for run in single), min(run.usd_per_million for run in single)


def _verdicts(cells: dict[Key, dict[str, StrategyRun]]) -> str:
    if not cells:
        return ""
    ttft = [ways[AUTO].ttft_p90_s / _best(ways)[0] - 1 for ways in cells.values()]
    usd = [ways[AUTO].usd_per_million / _best(ways)[1] - 1 for ways in cells.values()]
    gains = [_gain(ways) for key, ways in cells.items() if _is_in_reach(key, ways)]
    losses = [-_gain(ways) for key, ways in cells.items() if key[2] not in FAST]
    return table(
        [
            Target(
                what="`auto` above the best single strategy, TTFT p90, worst cell",
                measured=100 * max(ttft),
                unit=" %",
                most=100 * NOISE,
            ),
            Target(
                what="the same, dollars per million, worst cell",
                measured=100 * max(usd),
                unit=" %",
                most=100 * NOISE,
            ),
            Target(
                what="TTFT p90 that `auto` saves against `prefix`, fast links and shared prefixes, worst cell where so "
                "much can be saved",
                measured=100 * min(gains),
                unit=" %",
                least=100 * BETTER,
            ),
            Target(
                what="TTFT p90 that `auto` loses against `prefix`, slow links, worst cell",
                measured=100 * max(losses),
                unit=" %",
                most=100 * NOISE,
            ),
        ]
    )


def _gain(ways: dict[str, StrategyRun], way: str = AUTO) -> float:
    """Of TTFT, against the default."""
    return 1 - ways[way].ttft_p90_s / ways[PREFIX].ttft_p90_s


def _saved(ways: dict[str, StrategyRun], way: str = AUTO) -> float:
    """Of dollars, against the default."""
    return 1 - ways[way].usd_per_million / ways[PREFIX].usd_per_million


def _is_shared(key: Key, ways: dict[str, StrategyRun]) -> bool:
    return key[2] in FAST and ways[AUTO].reusable >= SHARED


def _is_in_reach(key: Key, ways: dict[str, StrategyRun]) -> bool:
    """Whether it would be that much better if all that can be reused were free."""
    if FREE not in ways:  # measured before it was asked
        return _is_shared(key, ways)
    return _is_shared(key, ways) and max(_gain(ways, FREE), _saved(ways, FREE)) >= BETTER


def _reading(cells: dict[Key, dict[str, StrategyRun]]) -> str:
    """Cells that miss, by name: nobody has to look for them."""
    missed, beyond = [], []
    for key, ways in cells.items():
        (trace, load, network), (ttft_s, usd), auto = key, _best(ways), ways[AUTO]
        name = f"- {trace}, load {load:g}, {network}"
        if auto.ttft_p90_s > ttft_s * (1 + NOISE):
            missed.append(f"{name}: TTFT p90 {auto.ttft_p90_s:.2f} s, the best single one {ttft_s:.2f} s")
        if auto.usd_per_million > usd * (1 + NOISE):
            missed.append(f"{name}: {auto.usd_per_million:.2f} dollars, the best single one {usd:.2f}")
        if _is_in_reach(key, ways) and _gain(ways) < BETTER:
            missed.append(f"{name}: {_gain(ways):.0%} better than `prefix`, not {BETTER:.0%}")
        elif _is_shared(key, ways) and not _is_in_reach(key, ways):
            beyond.append(
                f"{name}: `auto` saves {_gain(ways):.0%} of TTFT p90 and {_saved(ways):.1%} of dollars; if all "
                f"reusable tokens were free it would be {_gain(ways, FREE):.0%} and {_saved(ways, FREE):.1%}. `prefix` "
                f"has {ways[PREFIX].cached:.0%} of the prompts in memory already, where "
                f"{auto.reusable:.0%} is all there is"
            )
        if network not in FAST and -_gain(ways) > NOISE:
            missed.append(f"{name}: {-_gain(ways):.0%} worse than `prefix`")
    parts = []
    if missed:
        parts.append("Cells that miss one of these lines:\n\n" + "\n".join(missed) + "\n")
    if beyond:
        parts.append(
            f"Cells with shared prefixes and fast links where {BETTER:.0%} are out of reach for whatever strategy:\n\n"
            + "\n".join(beyond)
            + "\n"
        )
    return "\n".join(parts)


def _tables(runs: Sequence[StrategyRun]) -> str:
    sections = []
    for (trace, load, network), ways in _cells(runs).items():
        some = ways[PREFIX]
        sections.append(
            f"**{trace}, load {load:g}, {network}**, {some.requests:,} requests, {some.reusable:.0%} of their prompt "
            "tokens reusable\n"
        )
        sections.append(_rows(list(ways.values())))
    return "\n".join(sections)


def _rows(runs: Sequence[StrategyRun]) -> str:
    head = "| | TTFT p50 | p90 | p99 | ITL p90 | within SLO | USD/M | not computed there | brought | given up |"
    lines = [head, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for run in runs:
        name = f"{run.way}, {run.prefilling} of {REPLICAS} for prompts" if run.prefilling else run.way
        if len({one.trace for one in runs}) > 1:
            name = f"{run.trace}, {name}"
        lines.append(
            f"| {name} | {run.ttft_p50_s:.2f} s | {run.ttft_p90_s:.2f} s | {run.ttft_p99_s:.1f} s "
            f"| {run.itl_p90_s * 1000:.0f} ms | {run.within:.1%} | {run.usd_per_million:.2f} "
            f"| {run.reusable if run.way == FREE else run.cached:.0%} "
            f"| {run.arrived:,} | {run.failed:,} |"
        )
    return "\n".join(lines) + "\n"
