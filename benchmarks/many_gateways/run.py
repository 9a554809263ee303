"""`make bench-many-gateways`: four gateways that share what they know beside one alone. Writes its page."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks import machine
from benchmarks.many_gateways.live_results import RESULTS as LIVE
from benchmarks.many_gateways.live_results import Live
from benchmarks.many_gateways.page import PAGE, Results, Run, page
from benchmarks.routing.bakeoff import traffic_of
from benchmarks.routing.fleets import fleet, laid_out
from benchmarks.traces.traces import AZURE, TOOL_AGENT, Trace, read_traces
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.sharing import Sharing
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("many_gateways.json")
FLEET = "16 each of H100, MI300X, 4 x TPU v5e, L4"
GATEWAYS = 4
CELLS = ((AZURE, 0.6, 15_000), (AZURE, 0.9, 15_000), (TOOL_AGENT, 0.5, 8_000), (TOOL_AGENT, 0.8, 8_000))
REPORTS = "four, reports every "
ONE, SHARED = "one gateway", f"{REPORTS}0.1 s"
ALONE, STALE, AWAY = (
    "four that tell each other nothing",
    "four, reports a second old",
    "four, store away from 1/3 to 2/3",
)


def main() -> int:
    """Cell by cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder with traces/")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--cell", nargs=3, metavar=("TRACE", "LOAD", "REQUESTS"), help="measure this one alone, and write no page"
    )
    parser.add_argument("--page", action="store_true", help="write the page of the figures that are kept, run nothing")
    options = parser.parse_args()
    if options.cell is not None:
        name, load, requests = options.cell
        _measured(options, ((name, float(load), int(requests)),))
        return 0
    if not options.page:
        results = _measured(options, CELLS)
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    results = msgspec.json.decode(RESULTS.read_bytes(), type=Results)
    live = msgspec.json.decode(LIVE.read_bytes(), type=Live)
    PAGE.write_text(
        page(results, live, ONE, next(run.way for run in results.runs if run.way.startswith(REPORTS))), encoding="utf-8"
    )
    return 0


def _measured(options: argparse.Namespace, cells: Sequence[tuple[str, float, int]]) -> Results:
    runs = []
    traces = read_traces(options.data)
    for name, load, requests in cells:
        traffic = traffic_of(FLEET, traces[name], load, options.seed, requests)
        for way, trial in _ways(traces[name], options.seed, traffic):
            runs.append(_run(name, load, way, trial, traffic))
            print(runs[-1], flush=True)
    return Results(
        at=f"{datetime.now(UTC):%Y-%m-%d}, {machine.describe()}",
        seed=options.seed,
        fleet=FLEET,
        replicas=fleet(FLEET).replicas,
        runs=runs,
    )


def _ways(trace: Trace, seed: int, traffic: Workload) -> Iterator[tuple[str, Trial]]:
    """The ways to decide."""
    third_s = traffic.arrivals[-1].at_s / 3
    away = Sharing(away_from_s=third_s, away_until_s=2 * third_s)
    ways: dict[str, tuple[int, Sharing | None]] = {
        ONE: (1, None),
        SHARED: (GATEWAYS, Sharing()),
        STALE: (GATEWAYS, Sharing(delay_s=1.0)),
        AWAY: (GATEWAYS, away),
        ALONE: (GATEWAYS, None),
    }
    for way, (gateways, sharing) in ways.items():
        yield way, Trial(policy="slo", seed=seed, slo=trace.slo, gateways=gateways, sharing=sharing)


def _run(name: str, load: float, way: str, trial: Trial, traffic: Workload) -> Run:
    found = report(run(laid_out(FLEET, trial.seed), traffic, trial), trial)
    return Run(
        trace=name,
        load=load,
        way=way,
        requests=found.requests,
        seconds=found.arrivals_s,
        at_once=_at_once(traffic),
        attainment=found.attainment,
        ttft_p99_s=found.ttft.p99_s,
        itl_p99_s=found.itl.p99_s,
        prefix_hit_share=found.prefix_hit_share,
        hottest=found.inside_hottest / found.inside_mean if found.inside_mean else 0.0,
    )


def _at_once(traffic: Workload) -> float:
    counts = Counter(one.at_s for one in traffic.arrivals)
    return sum(count * count for count in counts.values()) / len(traffic.arrivals)


if __name__ == "__main__":
    sys.exit(main())
