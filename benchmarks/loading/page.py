"""docs/loading.md from what `make bench-loading` found."""

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from benchmarks.machine import describe

HEAD = """\
# How fast weights are loaded

Written by `make bench-loading`; do not edit. What happens on the way is in [guides/loading.md](guides/loading.md).

{files} files of {mib} MiB each, brought to a folder in memory with their hashes checked, beside what `dd` reads of the
same place. Rounds alternate; the disk's cache is emptied of the files before every reading. The object store is rclone,
which serves S3 from the same disk; `dd` is given what `curl` reads of it in one stream.

Measured on {machine}. Medians of {rounds} rounds, with the least and the most.
"""


class Loaded(Struct, frozen=True, kw_only=True):
    """One way of reading, over all rounds."""

    place: str
    how: str
    rates: tuple[float, ...]  # bytes a second


def render(loaded: Sequence[Loaded], *, files: int, file_bytes: int) -> str:
    """The page."""
    usual = {one.place: median(one.rates) for one in loaded if one.how == "dd"}
    rows = [
        f"| {one.place} | {one.how} | {_mb(median(one.rates))} | {_mb(min(one.rates))} to {_mb(max(one.rates))} | "
        f"{median(one.rates) / usual[one.place]:.2f} |"
        for one in loaded
    ]
    return "\n".join(
        [
            HEAD.format(files=files, mib=file_bytes >> 20, machine=describe(), rounds=len(loaded[0].rates)),
            "| From | By | MB/s | Spread | Of `dd` |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _mb(rate: float) -> str:
    return f"{rate / 1e6:,.0f}"
