"""`make bench-observing`: what it costs to see everything, written to docs/observing-cost.md.

Each part is a benchmark of its own, run as it is; the page has what it printed.
"""

import argparse
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import describe

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "observing-cost.md"
PARTS = (
    (
        "Metrics",
        "benchmarks.observing.metrics",
        (),
        "Counting one finished request in every metric that speaks of requests, in a loop over a thousand varied ones "
        "of twenty label sets. The target is 5 µs.",
    ),
    (
        "Traces",
        "benchmarks.observing.tracing",
        ("--rounds", "3"),
        "The same gateway with traces off, off once more, at one per cent and of every request, in turns. How far the "
        "two that are off lie apart is how finely this machine measures. CPU is that of the supervisor and its worker.",
    ),
    (
        "The console",
        "benchmarks.observing.console",
        (),
        "A supervisor of 200 replicas under 10,000 requests a minute, with none and with four consoles open, "
        "in turns. The targets are 50 ms of CPU per second and console, and 500 KB for the page.",
    ),
)


def main() -> None:
    """Run the parts one after the other and write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    day = datetime.now(UTC).date().isoformat()
    page = f"# What observing costs\n\nWritten by `make bench-observing`; run of {day}, {describe()}.\n"
    for part in PARTS:
        page += f"\n{_section(*part)}"
    PAGE.write_text(page, encoding="utf-8")
    print(page)


def _section(title: str, script: str, words: tuple[str, ...], what: str) -> str:
    print(f"{script} ...", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", script, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stderr}")
    said = done.stdout.strip()
    shown = said if said.startswith("|") else f"```\n{said}\n```"
    return f"## {title}\n\n{what}\n\n{shown}\n"


if __name__ == "__main__":
    main()
