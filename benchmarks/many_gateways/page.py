"""The page of `make bench-many-gateways`."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

PAGE = Path(__file__).resolve().parents[2] / "docs" / "many-gateways.md"
WITHIN = 1.0  # points of SLO attainment that sharing may cost


class Run(Struct, frozen=True, kw_only=True):
    """One simulated hour, or less, of one way to decide."""

    trace: str
    load: float
    way: str
    requests: int
    seconds: float
    at_once: float  # requests that come in one moment with a request, itself among them, on average
    attainment: float
    ttft_p99_s: float
    itl_p99_s: float
    prefix_hit_share: float
    hottest: float  # requests inside the hottest replica over the mean of all


class Results(Struct, frozen=True, kw_only=True):
    """Everything on the page."""

    at: str
    seed: int
    fleet: str
    replicas: int
    runs: list[Run]


def page(results: Results, one: str, shared: str) -> str:
    """`one` and `shared` are the ways that are held against each other."""
    cells = list(dict.fromkeys((run.trace, run.load) for run in results.runs))
    sections = "\n".join(_section(results.runs, cell, one, shared) for cell in cells)
    return f"""# Many gateways beside one

Four gateways in front of one fleet see a quarter of the requests each. What they tell each other through
Redis ([guide](guides/many-gateways.md)) is to make them decide as one gateway would that saw everything.
This page says how nearly they do.

{results.replicas} simulated replicas ({results.fleet}), each pool up to a third slower or faster than its
gateways are told. A balancer draws a gateway for each request. Their routers, reports, gossip and what they
make of it are the code that gateways run
([`worker_reports.py`](../src/heterodyne/routing/worker_reports.py)); the store is a list in virtual time
([`gateways.py`](../src/heterodyne/simulator/gateways.py)). One learner of answer lengths serves all four.
`load` is a share of the fleet's capacity under its trace. Speeds are learned during the run, from nothing:
a gateway of four learns from a quarter of the samples. Seed {results.seed}, {results.at}, `make
bench-many-gateways`.

{sections}
## Live

What needs real processes is in [`test_many_gateways.py`](../tests/e2e/test_many_gateways.py), with gateways
over scripted engines and a real redis-server that is killed: load of four gateways is spread over eight
replicas within two streams of each other; an ejection that one has seen is heeded by all without their
having to find out; no request fails while Redis is away, and what others have in flight is known again
after its return; a gateway killed by SIGKILL costs its clients one retry at another, and the books have
each request once. 64 live engines and four gateways are more than the machine of this page carries.

## What no report can tell

Requests that come at one moment. Four gateways that each get a few of them decide before any of them can hear of the
others' choice, whatever the interval. In the log of the tool agents nearly all requests share their time with a dozen
others: there a gateway that sees all of them is ahead by what the others cannot know.

## What is not shown

Queues before the fleet, limits on concurrency and budgets of retries and hedges are each gateway's own, and
the simulation has no failures. One seed is one
draw.
"""


def _section(runs: Sequence[Run], cell: tuple[str, float], one: str, shared: str) -> str:
    those = [run for run in runs if (run.trace, run.load) == cell]
    by_way = {run.way: run for run in those}
    lost = 100 * (by_way[one].attainment - by_way[shared].attainment)
    verdict = (
        f"Sharing is {abs(lost):.1f} points {'below' if lost > 0 else 'above'} one gateway alone"
        f" ({'pass' if lost <= WITHIN else '**miss**'}: at most {WITHIN:g} below)."
    )
    rows = "\n".join(
        f"| {run.way} | {run.attainment:.1%} | {run.ttft_p99_s:.2f} s | {run.itl_p99_s * 1000:.0f} ms "
        f"| {run.prefix_hit_share:.0%} | {run.hottest:.1f} |"
        for run in those
    )
    trace, load = cell
    return f"""## {trace}, {load:.0%} of capacity

{those[0].requests:,} requests in {those[0].seconds:.0f} s, {those[0].at_once:.1f} at one moment. {verdict}

| | within SLO | TTFT p99 | ITL p99 | prompt tokens cached | hottest replica / mean |
|---|---:|---:|---:|---:|---:|
{rows}
"""
