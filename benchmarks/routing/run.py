"""`make bench-routing`: routing policies against their peers in the simulator; forecasts, prefixes, what it costs."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from benchmarks.routing.bakeoff import Effort, bake_off
from benchmarks.routing.decision_cost import decision_costs, long_prompt, simulator_paces
from benchmarks.routing.page import Run, render
from benchmarks.routing.prediction import accuracies, recoveries
from benchmarks.routing.prefix import prefixes
from benchmarks.traces.traces import read_traces
from heterodyne.domain.errors import OperatorError

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "routing-bakeoff.md"
FULL = Effort(
    seeds=5,
    requests_min=1_000,
    requests_max=4_000,
    loads=(0.5, 0.8, 1.0, 1.2),
    loads_large=(0.8, 1.0, 1.2),
    predicted_requests=12_000,
    prefix_loads=(0.5, 0.8, 1.0),
)
QUICK = Effort(
    seeds=2,
    requests_min=600,
    requests_max=1_200,
    loads=(0.8, 1.2),
    loads_large=(1.0,),
    predicted_requests=6_000,
    prefix_loads=(0.8,),
)


def main() -> int:
    """Print the page and write it."""
    options = _options()
    try:
        page = render(_run(options))
    except OperatorError as error:
        print(error, file=sys.stderr)
        return 1
    if not options.no_page:
        options.page.write_text(page, encoding="utf-8")
    print(page)
    return 0


def _run(options: argparse.Namespace) -> Run:
    begun_s = monotonic()
    effort, processes = (QUICK if options.quick else FULL), options.processes
    traces = read_traces(options.data)
    # Alone, before anything else runs.
    costs, prompt = decision_costs(), long_prompt()
    paces = simulator_paces(traces)
    found_accuracies = accuracies(traces, effort.seeds, effort.predicted_requests, processes)
    found_recoveries = recoveries(traces, effort.seeds, effort.predicted_requests, processes)
    found_prefixes = prefixes(traces, effort.seeds, processes, effort.prefix_loads)
    outcomes = bake_off(traces, effort, processes)
    return Run(
        day=datetime.now(UTC).date().isoformat(),
        took_s=monotonic() - begun_s,
        effort=effort,
        outcomes=outcomes,
        accuracies=found_accuracies,
        recoveries=found_recoveries,
        prefixes=found_prefixes,
        costs=costs,
        long_prompt=prompt,
        paces=paces,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder with traces/")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a look in two minutes: fewer seeds, loads and requests")
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write it")
    parser.add_argument("--no-page", action="store_true", help="write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
