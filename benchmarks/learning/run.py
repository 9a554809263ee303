"""`make bench-learning`: how fast the router learns engines that are nothing like what physics says of them."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks.learning.figures import Figures, measure
from benchmarks.learning.page import render

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "learning.md"
BEFORE = Path(__file__).with_name("before.json")


def main() -> int:
    """Print the page and write it, or keep the figures for a later one."""
    options = _options()
    figures = measure()
    if options.json is not None:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=1) + b"\n")
        return 0
    before = msgspec.json.decode(options.before.read_bytes(), type=Figures)
    page = render(figures, before, datetime.now(UTC).date().isoformat())
    PAGE.write_text(page, encoding="utf-8")
    print(page)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, default=BEFORE, help="figures of the learner to compare with")
    parser.add_argument("--json", type=Path, help="write figures there instead of the page")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
