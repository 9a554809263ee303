"""`make bench-instructions`: count instructions per request, rewrite the baseline and docs/instructions.md.

With --check it compares with the baseline instead, and fails where a request takes over 5 % more.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.gateway import running
from benchmarks.gateway.peers import HETERODYNE, TENANTS
from benchmarks.gateway.scenarios import PACED, PROMPT, REQUEST
from benchmarks.instructions import baseline, callgrind, page
from benchmarks.instructions.measure import Counted, count

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "instructions.md"
# Of a long prompt nearly everything is the body's, which keys and books do not touch. The tokens of a stream come at an
# engine's pace: of a faster one a busy machine decides how many are read at once.
REQUESTS = {HETERODYNE: {REQUEST: 400, PACED: 80, PROMPT: 200}, TENANTS: {REQUEST: 400, PACED: 80}}
CHECKED_SHARE = 4  # a check counts a quarter of them: enough for 5 %


def main() -> int:
    """Exit status 1 where something grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the baseline, write nothing")
    is_check = parser.parse_args().check
    lacking = callgrind.missing()
    if lacking is None and is_check and baseline.machine_kind() not in baseline.read():
        lacking = f"there is no baseline for {baseline.machine_kind()}"
    if lacking is not None:
        print(f"no instructions were counted: {lacking}", file=sys.stderr)
        return 0 if is_check else 1
    counts = _count(CHECKED_SHARE if is_check else 1)
    if not is_check:
        baseline.write(counts)
        page.write(PAGE, baseline.read())
        return 0
    grown = baseline.growths(counts)
    for sentence in grown:
        print(sentence, file=sys.stderr)
    if grown:
        print("Mend it, or run `make bench-instructions` and say why in the change.", file=sys.stderr)
    return 1 if grown else 0


def _count(share: int) -> tuple[Counted, ...]:
    found = []
    with tempfile.TemporaryDirectory(prefix="heterodyne-instructions-") as temporary:
        folder = Path(temporary)
        with running.upstream(folder) as (engine,):
            for name, scenarios in REQUESTS.items():
                with running.gateway(name, [engine.port], folder, folder, with_counted_worker) as gateway:
                    for scenario, requests in scenarios.items():
                        one = count(gateway, scenario, requests // share, running.own_folder(folder, name, 1))
                        print(f"{one.title}: {one.total:,} instructions per request", flush=True)
                        found.append(one)
    return tuple(found)


def with_counted_worker(command: Sequence[str], folder: Path) -> Sequence[str]:
    """A gateway whose worker runs under valgrind."""
    serve = (sys.executable, "-m", "benchmarks.instructions.counted_serve", str(folder))
    # It runs in a folder of its own, and what is counted is this checkout.
    return ("env", f"PYTHONPATH={ROOT / 'src'}:{ROOT}", *serve, *command[1:])


if __name__ == "__main__":
    sys.exit(main())
