"""`make bench-simulator`: requests simulated a second on one core, in the form that is installed."""

import argparse
import sys
from pathlib import Path

from benchmarks import machine
from benchmarks.routing.decision_cost import simulator_paces
from benchmarks.routing.fleets import FLEETS
from benchmarks.traces.traces import AZURE, read_traces
from heterodyne.domain.errors import OperatorError
from heterodyne.telemetry.build_form import build_form

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder with traces/")
    try:
        paces = simulator_paces(read_traces(parser.parse_args().data))
    except OperatorError as error:
        print(error, file=sys.stderr)
        return 1
    fleet = FLEETS[-1]
    print(f"{machine.describe()}, Heterodyne: {build_form()}; {fleet.replicas} replicas, {AZURE}\n")
    print("| load | simulated requests/s |\n|---:|---:|")
    for pace in paces:
        print(f"| {pace.load:g} | {pace.requests_per_s:,.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
