"""`make bench-physics`: score the performance model on measured silicon, print it, rewrite docs/physics-accuracy.md."""

import argparse
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.physics.argonne.first_tokens import ARCHIVE, FirstTokens, first_tokens
from benchmarks.physics.argonne.report import BatchReport, batch_report
from benchmarks.physics.argonne.rows import FILE as BATCHES
from benchmarks.physics.argonne.rows import read_batches
from benchmarks.physics.argonne.strangers import strangers
from benchmarks.physics.batch_profiles import SOURCE
from benchmarks.physics.disaggregated.report import SplitReport, split_report
from benchmarks.physics.disaggregated.rows import read_split
from benchmarks.physics.evaluation_cost import measure_costs
from benchmarks.physics.page import render
from benchmarks.physics.report import Report, report
from benchmarks.physics.shipped_data import write_data
from benchmarks.physics.silicon.first_tokens import timed_points
from benchmarks.physics.silicon.rows import FILE
from benchmarks.physics.splits import split_errors
from benchmarks.physics.spreads import ScoredSpreads
from heterodyne.physics.profile_catalogue import shipped_profiles

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "physics-accuracy.md"


class Accuracy(Struct, frozen=True, kw_only=True):
    """All reports, for `--json`."""

    serving: Report
    strangers: ScoredSpreads
    batches: BatchReport
    first_tokens: tuple[FirstTokens, ...]
    split: SplitReport


def main() -> int:
    """Exit status 1 when the measured rows are not there."""
    options = _options()
    for name in (FILE, BATCHES, ARCHIVE):
        if not (options.data / name).exists():
            print(f"{options.data / name}: not found; give the folder with --data", file=sys.stderr)
            return 1
    points, notes = timed_points(options.data)
    batches, batch_notes = read_batches(options.data)
    errors = split_errors(points)
    if options.write_profiles:
        write_data(points, batches, errors)
        return 0
    # No row is both fitted and scored: profiles made of these batches do not answer for them.
    others = [one for one in shipped_profiles() if one.source != SOURCE]
    found = Accuracy(
        serving=report(points, notes, errors, costs=measure_costs()),
        strangers=strangers(batches, others),
        batches=batch_report(batches, batch_notes, others),
        first_tokens=first_tokens(options.data, batches),
        split=split_report(*read_split(options.data), points),
    )
    page = render(found.serving, found.strangers, found.batches, found.first_tokens, found.split)
    if not options.no_page:
        PAGE.write_text(page)
    print(msgspec.json.format(msgspec.json.encode(found)).decode() if options.json else page)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "hardware_perf")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--no-page", action="store_true", help="leave docs/physics-accuracy.md as it is")
    parser.add_argument(
        "--write-profiles", action="store_true", help="fit the shipped profiles and their ranges instead of scoring"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
