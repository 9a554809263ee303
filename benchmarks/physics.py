"""`make bench-physics`: score the performance model on measured silicon, print it, rewrite docs/physics-accuracy.md."""

import argparse
import json
import sys
from pathlib import Path

import msgspec

from accuracy_page import render
from accuracy_report import report
from evaluation_cost import measure_costs
from heterodyne.physics.profile import Profile
from shipped_profiles import fit_profiles
from silicon_rows import FILE, read_points

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "physics-accuracy.md"
PROFILES = ROOT / "src" / "heterodyne" / "physics" / "data" / "profiles.toml"
PROFILES_HEAD = "# Prices of the step model, fitted by `python benchmarks/physics.py --write-profiles`; do not edit.\n"


def main() -> int:
    """Exit status 1 when the measured rows are not there."""
    options = _options()
    if not (options.data / FILE).exists():
        print(f"{options.data / FILE}: not found; give the folder with --data", file=sys.stderr)
        return 1
    points, notes = read_points(options.data)
    if options.write_profiles:
        PROFILES.write_text(PROFILES_HEAD + "\n".join(_table(profile) for profile in fit_profiles(points)))
        print(f"wrote {PROFILES}", file=sys.stderr)
        return 0
    found = report(points, notes, costs=measure_costs())
    page = render(found)
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
