"""A batch is worked off while workers and supervisors are killed; what must hold at the end is checked, and kept."""

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks.batches.killed import RESULTS, KilledRun
from benchmarks.machine import describe
from tests.support.batch_kills import work_off


def main() -> int:
    """Print each kill, and raise where a line is lost, answered twice, or paid for otherwise than once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=15_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    began_s = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - began_s:6.1f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        found = work_off(Path(folder), lines=options.lines, kills=options.kills, seed=options.seed, told=tell)
    kept = KilledRun(
        day=datetime.now(UTC).date().isoformat(),
        machine=describe(),
        seed=options.seed,
        seconds=time.monotonic() - began_s,
        lines=found.lines,
        killed=found.killed,
        records=found.records,
    )
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
