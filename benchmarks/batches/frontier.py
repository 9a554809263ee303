"""How many lines what risk buys: parts of traces beside one batch, with the bounds of the rule moved.

`python -m benchmarks.batches.frontier --data FOLDER`, after `page.py`, which tells of what was found.
"""

import sys
from pathlib import Path
from unittest.mock import patch

import msgspec
from msgspec import Struct

from benchmarks.batches.beside import Beside, measure, read_kept
from benchmarks.batches.traffic import options_parser
from benchmarks.traces.traces import AZURE, SERVEGEN
from heterodyne.routing import spare
from heterodyne.routing.prediction import patient_share

RESULTS = Path(__file__).with_name("frontier.json")
RULE = (spare.ITL_SHARE, patient_share.MISSED_MAX)
BOUNDS = (RULE, (0.65, 0.002), (0.75, 0.004), (0.85, 0.002), (0.85, 0.004))
SEEN = {AZURE: 60.0, SERVEGEN: 40.0}  # their first parts, for so many seconds


class Bounded(Struct, frozen=True, kw_only=True):
    """With other bounds."""

    itl_share: float  # of the SLO, that steps may take on the average
    missed_max: float  # promises, that may be missed
    found: Beside


def main() -> int:
    """Measure and keep them."""
    parser = options_parser(__doc__, seconds=0.0)
    parser.set_defaults(warm_s=30.0, groups=500)
    options = parser.parse_args()
    page = {(one.trace, one.part, one.load, one.seconds): one for one in read_kept().values()}
    kept: list[Bounded] = []
    for options.trace, options.seconds in SEEN.items():
        known = page[options.trace, options.seed, options.load, options.seconds]
        for itl_share, missed_max in BOUNDS:
            with patch.object(spare, "ITL_SHARE", itl_share), patch.object(patient_share, "MISSED_MAX", missed_max):
                found = measure(options, known)
            kept.append(Bounded(itl_share=itl_share, missed_max=missed_max, found=found))
            print(options.trace, itl_share, missed_max, f"{found.points:+.2f} {found.of_left:.2f}", file=sys.stderr)
            RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return 0


def frontier_section() -> list[str]:
    """From what was kept; nothing where there is nothing."""
    if not RESULTS.exists():
        return []
    kept = msgspec.json.decode(RESULTS.read_bytes(), type=list[Bounded])
    ordered = sorted(kept, key=lambda bounded: (bounded.found.trace, bounded.found.points))
    return [
        "## What risk buys",
        "",
        "The first parts (seen) with bounds of the rule moved: the share of the promised time between tokens that steps"
        " may take on the average, and how many of the promises made beside batch work may be missed before its share "
        "is cut faster than it grows. The rule is in bold.",
        "",
        "| Traffic | Steps | Missed | Points | Lines/s | Of what is left over |",
        "|---|---:|---:|---:|---:|---:|",
        *map(_row, ordered),
        "",
    ]


def _row(bounded: Bounded) -> str:
    found, is_rule = bounded.found, (bounded.itl_share, bounded.missed_max) == RULE
    mark = "**" if is_rule else ""
    return (
        f"| {found.trace} | {mark}{bounded.itl_share:g}{mark} | {mark}{bounded.missed_max:g}{mark} "
        f"| {found.points:+.2f} | {found.lines_per_s:.0f} | {found.of_left:.2f} |"
    )


if __name__ == "__main__":
    raise SystemExit(main())
