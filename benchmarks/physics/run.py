"""`make bench-physics`: score the performance model on measured silicon, print it, rewrite docs/physics-accuracy.md."""

import argparse
import json
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.physics.argonne.first_tokens import ARCHIVE, FirstTokens, first_tokens
from benchmarks.physics.argonne.report import BatchReport, batch_report
from benchmarks.physics.argonne.rows import FILE as BATCHES
from benchmarks.physics.argonne.rows import read_batches
from benchmarks.physics.batch_profiles import SOURCE, fit_batch_profiles
from benchmarks.physics.disaggregated.report import SplitReport, split_report
from benchmarks.physics.disaggregated.rows import read_split
from benchmarks.physics.evaluation_cost import measure_costs
from benchmarks.physics.page import render
from benchmarks.physics.report import Report, report
from benchmarks.physics.shipped_profiles import fit_profiles
from benchmarks.physics.silicon.rows import FILE, read_points
from heterodyne.physics.profile import Profile
from heterodyne.physics.profile_catalogue import shipped_profiles

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "physics-accuracy.md"
PROFILES = ROOT / "src" / "heterodyne" / "physics" / "data" / "profiles.toml"
PROFILES_HEAD = (
    "# Prices of the step model, fitted by `python -m benchmarks.physics.run --write-profiles`; do not edit.\n"
)


class Accuracy(Struct, frozen=True, kw_only=True):
    """All reports, for `--json`."""

    serving: Report
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
    points, notes = read_points(options.data)
    batches, batch_notes = read_batches(options.data)
    if options.write_profiles:
        profiles = (*fit_profiles(points), *fit_batch_profiles(batches))
        PROFILES.write_text(PROFILES_HEAD + "\n".join(_table(profile) for profile in profiles))
        print(f"wrote {PROFILES}", file=sys.stderr)
        return 0
    found = Accuracy(
        serving=report(points, notes, costs=measure_costs()),
        # No row is both fitted and scored: profiles made of these batches do not answer for them.
        batches=batch_report(batches, batch_notes, [one for one in shipped_profiles() if one.source != SOURCE]),
        first_tokens=first_tokens(options.data, batches),
        split=split_report(*read_split(options.data), points),
    )
    page = render(found.serving, found.batches, found.first_tokens, found.split)
    if not options.no_page:
        PAGE.write_text(page)
    print(msgspec.json.format(msgspec.json.encode(found)).decode() if options.json else page)
    return 0


def _table(profile: Profile) -> str:
    """One `[[profiles]]` entry. TOML has no null: an absence is left away."""
    plain = msgspec.to_builtins(profile)
    key = {name: value for name, value in plain["key"].items() if value is not None}
    fields = {**plain, "key": key}
    return "[[profiles]]\n" + "".join(f"{name} = {_inline(value)}\n" for name, value in fields.items())


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_inline(part)}" for name, part in value.items()) + " }"
    return json.dumps(value)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "hardware_perf")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--no-page", action="store_true", help="leave docs/physics-accuracy.md as it is")
    parser.add_argument("--write-profiles", action="store_true", help="fit the shipped profiles instead of scoring")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
