"""`make bench-tls`: CPU of requests, streams and handshakes over TLS beside plain ones, written to docs/tls-cost.md."""

import argparse
import os
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import FORMS, describe
from benchmarks.tls.measure import measure_tls
from benchmarks.tls.page import method, table
from heterodyne.telemetry.build_form import build_form

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tls-cost.md"


def main() -> None:
    """Measure in turns, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="times each is measured (default: 5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one measure (default: 2)")
    options = parser.parse_args()
    costs = measure_tls(options.rounds, options.seconds)
    run = f"run of {datetime.now(UTC).date().isoformat()}, {describe()}, {FORMS[build_form()]}"
    beside = f"Load average {os.getloadavg()[1]:.1f}, its own part included."  # what else ran makes figures scatter
    lines = ["# What TLS costs", "", f"Written by `make bench-tls`; {run}. {method(costs)} {beside}", "", *table(costs)]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
