"""`make bench-scaling`: fleets that grow and shrink under loads, by our rules and by others. Writes its page."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks import machine
from benchmarks.scaling.loads import Load, loads
from benchmarks.scaling.measure import Cell, measure
from benchmarks.scaling.page import PAGE, page
from benchmarks.scaling.pictures import PICTURE, picture
from benchmarks.scaling.scalers import CLAIRVOYANT, HEADROOMS, HINDSIGHT, OURS, REACTIVE, RESERVE, TOLD_BEST, peers
from heterodyne.domain.errors import OperatorError

ROOT = Path(__file__).resolve().parents[2]
TO_ZERO = ("KPA",)  # of the peers, those that may have no replica


def main() -> int:
    """Cell by cell; with `--keep` in as many parts as one likes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder with traces/")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep cells there, and leave out those in it")
    parser.add_argument("--only", metavar="WORD", help="cells whose load or scaler it is; no page is written")
    parser.add_argument("--page", action="store_true", help="write the page of the cells that are kept, run none")
    options = parser.parse_args()
    try:
        known = loads(options.data)
    except OperatorError as error:
        print(error, file=sys.stderr)
        return 1
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    cells = []
    for load, scaler in _asked(known, options.only):
        file = options.keep / f"{load.name}, {scaler}.json".replace("/", " ") if options.keep else None
        if file is not None and file.exists():
            cells.append(msgspec.json.decode(file.read_bytes(), type=Cell))
        elif not options.page:
            cells.append(measure(load, scaler))
            print(_line(cells[-1]), flush=True)
            if file is not None:
                file.write_bytes(msgspec.json.encode(cells[-1]))
    if not options.only:
        _write(known, cells, _ages(options.keep))
    return 0


def _asked(known: dict[str, Load], only: str | None) -> Iterator[tuple[Load, str]]:
    for load in known.values():
        every = [CLAIRVOYANT, HINDSIGHT, RESERVE, OURS, REACTIVE, *HEADROOMS, *peers(load)]
        if not load.minimum:
            every = [OURS, TOLD_BEST, *TO_ZERO]
        for scaler in every:
            if not only or only in {load.name, scaler}:
                yield load, scaler


def _line(cell: Cell) -> str:
    one = cell.report
    return (
        f"{cell.load}, {cell.scaler}: {one.attainment:.2%} of {one.requests}, {one.failures} failures, "
        f"{one.replica_hours:.2f} h, {one.usd:.2f} USD, {one.turns_per_hour:.0f} turns, {cell.cpu_s:.0f} s"
    )


def _ages(folder: Path | None) -> str:
    """Of cells that were kept from an earlier run."""
    times = (
        sorted(datetime.fromtimestamp(file.stat().st_mtime, UTC) for file in folder.glob("*.json")) if folder else []
    )
    return f", cells kept from {times[0]:%d %B %H:%M} to {times[-1]:%d %B %H:%M} UTC" if times else ""


def _write(known: dict[str, Load], cells: Sequence[Cell], ages: str) -> None:
    at = f"{datetime.now(UTC):%Y-%m-%d}, {machine.describe()}{ages}"
    PAGE.write_text(page(known, cells, at), encoding="utf-8")
    PICTURE.write_text(picture(known, cells), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
