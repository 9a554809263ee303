"""`make bench-kv`: KV that moves between replicas and stores, and prompts apart from answers, in the simulator.

Writes both pages and their pictures. Parts may be measured one at a time; the others keep what was found before.
"""

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import structs

from benchmarks import machine
from benchmarks.kv.page_splits import PAGE as SPLITS_PAGE
from benchmarks.kv.page_splits import splits_page
from benchmarks.kv.page_strategies import PAGE as STRATEGIES_PAGE
from benchmarks.kv.page_strategies import strategies_page
from benchmarks.kv.pictures import SPLITS, STRATEGIES, splits_picture, strategies_picture
from benchmarks.kv.published import published_runs
from benchmarks.kv.results import Results
from benchmarks.kv.role_advice import advice_runs
from benchmarks.kv.splits import split_runs
from benchmarks.kv.strategies import strategy_runs
from heterodyne.domain.errors import OperatorError

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("kv.json")
PARTS = ("strategies", "splits", "published", "advice")


def main() -> int:
    """Part by part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder with traces/")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--part", choices=PARTS, action="append", help="measure this alone; without it, all")
    parser.add_argument("--page", action="store_true", help="write the pages of the figures that are kept, run nothing")
    options = parser.parse_args()
    if not options.page:
        try:
            for part in options.part or PARTS:
                _measure(part, options.data, options.processes)
        except OperatorError as error:
            print(error, file=sys.stderr)
            return 1
    results = _kept()
    STRATEGIES.write_text(strategies_picture(results.strategies), encoding="utf-8")
    SPLITS.write_text(splits_picture(results.splits), encoding="utf-8")
    STRATEGIES_PAGE.write_text(strategies_page(results), encoding="utf-8")
    SPLITS_PAGE.write_text(splits_page(results), encoding="utf-8")
    return 0


def _measure(part: str, data: Path, processes: int) -> None:
    """What is found is kept at once: a part takes minutes."""
    began_s = time.monotonic()
    found: dict[str, object]
    if part == "strategies":
        plain, throttled = strategy_runs(data, processes)
        found = {"strategies": plain, "throttled": throttled}
    elif part == "splits":
        found = {"splits": split_runs(processes)}
    elif part == "published":
        found = {"published": published_runs(processes)}
    else:
        found = {"advice": advice_runs(data, processes)}
    results = _kept()
    seconds = results.seconds | {part: time.monotonic() - began_s}
    at = f"{datetime.now(UTC):%Y-%m-%d}, {machine.describe()}"
    results = structs.replace(results, **found, at=at, seconds=seconds)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def _kept() -> Results:
    return msgspec.json.decode(RESULTS.read_bytes(), type=Results) if RESULTS.exists() else Results()


if __name__ == "__main__":
    sys.exit(main())
