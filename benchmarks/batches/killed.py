"""What a batch beside kills came to (`kills.py`), and the section of docs/batches-beside.md that tells of it."""

from pathlib import Path

import msgspec
from msgspec import Struct

RESULTS = Path(__file__).with_name("killed.json")
WHOM = {"worker": "one worker", "supervisor": "the supervisor", "all": "the supervisor and both workers"}


class KilledRun(Struct, frozen=True, kw_only=True):
    """One run in which everything held: one in which it does not is not kept."""

    day: str
    machine: str
    seed: int
    seconds: float
    lines: int
    killed: dict[str, int]  # how often each was
    records: int  # in the books


def killed_section() -> list[str]:
    """From what was kept; nothing where there is nothing."""
    return _section(msgspec.json.decode(RESULTS.read_bytes(), type=KilledRun)) if RESULTS.exists() else []


def _section(found: KilledRun) -> list[str]:
    times = ", ".join(f"{WHOM[whom]} {count} times" for whom, count in sorted(found.killed.items()))
    return [
        "## Killed in the middle",
        "",
        f"Run of {found.day} on {found.machine} (`python -m benchmarks.batches.kills --lines {found.lines} --kills "
        f"{sum(found.killed.values())} --seed {found.seed}`, {found.seconds:.0f} s): `heterodyne serve` with two "
        "workers before an engine that answers each line with as many tokens as its number says, and `kill -9` at "
        f"{sum(found.killed.values())} moments by chance, from the batch's creation on: {times}.",
        "",
        f"The batch was completed: its output has each of {found.lines:,} lines once, in order, with that line's "
        f"answer. The books have {found.records:,} records: one for each answer that is in the output, with its "
        "tokens, and others without tokens, of lines that a kill cut off and that were asked again.",
        "",
    ]
