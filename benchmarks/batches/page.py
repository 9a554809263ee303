"""`make bench-batches-beside`: batches beside parts of traces in virtual time, written to docs/batches-beside.md."""

import sys
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.batches.beside import RESULTS, Beside, measure, read_kept
from benchmarks.batches.frontier import frontier_section
from benchmarks.batches.killed import killed_section
from benchmarks.batches.live import live_section
from benchmarks.batches.traffic import options_parser
from benchmarks.traces.traces import AZURE, SERVEGEN
from heterodyne.routing.spare import ITL_SHARE

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "batches-beside.md"
HEAD_LINES = 2  # of a table
POINTS_MAX, OF_LEFT_MIN, CACHED_MIN = 0.5, 0.9, 0.8


class Case(Struct, frozen=True, kw_only=True):
    """What is simulated."""

    trace: str
    part: int
    load: float = 0.6
    seconds: float

    @property
    def key(self) -> str:
        """Of its result."""
        return f"{self.trace}, part {self.part}, load {self.load:g}, {self.seconds:g} s"


AZURE_S, SERVEGEN_S = 60.0, 40.0  # ServeGen has ten times as many requests in a second
TUNED = [
    Case(trace=AZURE, part=1, seconds=AZURE_S),
    Case(trace=AZURE, part=2, seconds=AZURE_S),
    Case(trace=SERVEGEN, part=1, seconds=SERVEGEN_S),
]
OTHERS = [
    Case(trace=AZURE, part=3, seconds=AZURE_S),
    Case(trace=AZURE, part=4, seconds=AZURE_S),
    Case(trace=SERVEGEN, part=2, seconds=SERVEGEN_S),
    Case(trace=SERVEGEN, part=3, seconds=SERVEGEN_S),
]
LOADS = [Case(trace=AZURE, part=2, load=load, seconds=AZURE_S) for load in (0.4, 0.8)]
WHOLE = [Case(trace=AZURE, part=2, seconds=370.0), Case(trace=SERVEGEN, part=2, seconds=330.0)]  # all 50,000 lines


def main() -> int:
    """Measure what is not kept yet, within the time given, and write the page."""
    parser = options_parser(__doc__, seconds=60.0)
    parser.add_argument("--anew", action="store_true", help="measure what is kept as well")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin nothing after so many")
    parser.set_defaults(warm_s=30.0, groups=500)
    options, began_s = parser.parse_args(), time.monotonic()
    kept = {} if options.anew or not RESULTS.exists() else read_kept()
    for case in (*TUNED, *OTHERS, *LOADS, *WHOLE):
        if case.key in kept:
            continue
        if time.monotonic() - began_s > 60.0 * options.minutes:
            break
        print(case.key, file=sys.stderr, flush=True)
        options.trace, options.seed, options.load, options.seconds = case.trace, case.part, case.load, case.seconds
        kept[case.key] = measure(options)
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    PAGE.write_text("\n".join([*_simulated(kept), *live_section(), *killed_section()]), encoding="utf-8")
    return 0


def _simulated(kept: dict[str, Beside]) -> list[str]:
    return [
        "# Batches beside interactive traffic",
        "",
        "Written by `make bench-batches-beside`; do not edit. The rule is in [the guide](guides/batches.md).",
        "",
        "Four replicas of Llama 3.1 8B (H100, MI300X, four chips of a TPU v5e, L4 in FP8), interactive requests of a "
        "public trace at a share of the rate at which the fleet keeps 1 s to the first token and 50 ms between tokens, "
        "and after half a minute a batch whose lines share 512 of 576 prompt tokens in groups of a hundred and have "
        "answers of 64. **Left over** is what the fleet answers of these lines alone, under the same promise, times "
        "the share of its capacity that interactive work leaves. Late are requests with a late first token, slow those "
        "whose tokens came too slowly on the average.",
        "",
        "That share is by the performance model, of the requests that it holds at steps as long as the promise. Lines, "
        f"alone as beside traffic, are held to {ITL_SHARE:g} of it, so that a burst has room, and at such steps "
        "interactive work takes more of what there is: **at its steps** is the share of what is left then. The first "
        "says what a batch gets of all there might be, the second how well the rule fills what it allows itself; the "
        "target is for the first.",
        "",
        f"Wanted: at most {POINTS_MAX} points fewer promises kept, at least {OF_LEFT_MIN} of what is left over, and "
        f"{CACHED_MIN} of the prompt tokens that lines could share found in caches.",
        "",
        "## In virtual time",
        "",
        "The bounds of the rule were chosen by looking at the first rows; those below them were measured once.",
        "",
        *_table(kept, TUNED, "seen"),
        *_rows(kept, OTHERS, "unseen"),
        *_part("Other loads", "", _table(kept, LOADS, "unseen")),
        *_part(
            "Fifty thousand lines",
            "The whole batch, from its first line to its last, beside traffic that goes on.",
            _table(kept, WHOLE, "unseen"),
        ),
        "",
        *frontier_section(),
    ]


def _part(title: str, text: str, table: list[str]) -> list[str]:
    """Nothing of what was not measured."""
    return ["", f"### {title}", "", *([text, ""] if text else []), *table] if len(table) > HEAD_LINES else []


def _table(kept: dict[str, Beside], cases: list[Case], word: str) -> list[str]:
    return [
        "| Traffic | Requests/s | SLO kept | Points | Late, slow | Lines/s | Of what is left over | At its steps "
        "| In caches | Lines | |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
        *_rows(kept, cases, word),
    ]


def _rows(kept: dict[str, Beside], cases: list[Case], word: str) -> list[str]:
    return [_row(case, kept[case.key], word) for case in cases if case.key in kept]


def _row(case: Case, one: Beside, word: str) -> str:
    is_met = one.points >= -POINTS_MAX and one.of_left >= OF_LEFT_MIN and one.cached_share >= CACHED_MIN
    return (
        f"| {case.key} ({word}) | {one.interactive_rps:.0f} "
        f"| {one.alone.percent:.2f} → {one.beside.percent:.2f} % | {one.points:+.2f} "
        f"| {one.beside.late}, {one.beside.slow} of {one.beside.came:,} | {one.lines_per_s:.0f} | {one.of_left:.2f} "
        f"| {one.of_left_at_steps:.2f} | {one.cached_share:.2f} | {one.lines:,} | {'pass' if is_met else '**miss**'} |"
    )


if __name__ == "__main__":
    raise SystemExit(main())
