"""How many lines what risk buys: one part of a trace beside one batch, with the bounds of the rule moved.

`python -m benchmarks.batches.frontier --data FOLDER`; `page.py` tells of what was found.
"""

import sys
from pathlib import Path
from unittest.mock import patch

import msgspec
from msgspec import Struct

from benchmarks.batches.beside import Beside, measure
from benchmarks.batches.traffic import options_parser
from heterodyne.routing import spare
from heterodyne.routing.prediction import patient_share

RESULTS = Path(__file__).with_name("frontier.json")
RULE = (spare.ITL_SHARE, patient_share.MISSED_MAX)
BOUNDS = (RULE, (0.65, 0.002), (0.75, 0.001), (0.75, 0.004), (0.85, 0.004), (0.85, 0.008))


class Bounded(Struct, frozen=True, kw_only=True):
    """With other bounds."""

    itl_share: float  # of the SLO, that steps may take on the average
    missed_max: float  # promises, that may be missed
    found: Beside


def main() -> int:
    """Measure and keep them."""
    parser = options_parser(__doc__, seconds=370.0)
    parser.set_defaults(warm_s=30.0, groups=500)
    options = parser.parse_args()
    kept: list[Bounded] = []
    for itl_share, missed_max in BOUNDS:
        with patch.object(spare, "ITL_SHARE", itl_share), patch.object(patient_share, "MISSED_MAX", missed_max):
            found = measure(options, kept[0].found if kept else None)
        kept.append(Bounded(itl_share=itl_share, missed_max=missed_max, found=found))
        print(
            itl_share, missed_max, f"{found.points:+.2f} {found.lines_per_s:.1f} {found.of_left:.2f}", file=sys.stderr
        )
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return 0


def frontier_section() -> list[str]:
    """From what was kept; nothing where there is nothing."""
    if not RESULTS.exists():
        return []
    kept = msgspec.json.decode(RESULTS.read_bytes(), type=list[Bounded])
    one = kept[0].found
    return [
        "## What risk buys",
        "",
        f"{one.trace}, part {one.part} (seen), load {one.load:g}, {one.seconds:g} s, with bounds of the rule moved: "
        "the share of the promised time between tokens that steps may take on the average, and the promises that may "
        "be missed beyond those that are missed without batch work. The rule is in bold.",
        "",
        "| Steps | Missed | Points | Lines/s | Of what is left over |",
        "|---:|---:|---:|---:|---:|",
        *map(_row, sorted(kept, key=lambda bounded: bounded.found.points)),
        "",
    ]


def _row(bounded: Bounded) -> str:
    found, is_rule = bounded.found, (bounded.itl_share, bounded.missed_max) == RULE
    mark = "**" if is_rule else ""
    return (
        f"| {mark}{bounded.itl_share:g}{mark} | {mark}{bounded.missed_max:g}{mark} | {found.points:+.2f} "
        f"| {found.lines_per_s:.0f} | {found.of_left:.2f} |"
    )


if __name__ == "__main__":
    raise SystemExit(main())
