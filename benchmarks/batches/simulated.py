"""A batch beside interactive traffic in virtual time: what the live benchmark measures in minutes, in seconds."""

from benchmarks.batches.beside import Kept, measure
from benchmarks.batches.traffic import read_options


def main() -> int:
    """Print what was found."""
    found = measure(read_options(__doc__, seconds=90.0))
    alone, beside = found.alone, found.beside
    print(
        f"interactive {found.interactive_rps:.1f}/s: {alone.percent:.2f} % -> {beside.percent:.2f} %: "
        f"{found.points:+.2f} points"
    )
    print(f"missed alone: {_told(alone)}; beside: {_told(beside)}")
    print(f"batch alone {found.lines_alone_per_s:.1f} lines/s")
    print(f"beside {found.lines_per_s:.1f} lines/s: {found.of_left:.2f} of the {found.left_per_s:.1f} left over")
    print(f"{found.lines} lines answered, {found.cached_share:.2f} of what they could share found in caches")
    return 0


def _told(kept: Kept) -> str:
    return f"{kept.late} late, {kept.slow} slow, {kept.refused} refused, of {kept.came}"


if __name__ == "__main__":
    raise SystemExit(main())
