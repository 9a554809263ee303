"""`make bench-cascade`: what routers and cascades keep and save on public answers, and whether their bound holds."""

import argparse
from pathlib import Path

from benchmarks.cascade import chart, page
from benchmarks.cascade.results import measure


def main() -> None:
    """Read the folder of data; write the page and its picture, or print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with router and eval_sets")
    parser.add_argument("--write", type=Path, default=None, help="page to write, e.g. docs/cascade-quality.md")
    options = parser.parse_args()
    results = measure(options.data)
    text = page.rendered(results)
    if options.write is None:
        print(text)
        return
    options.write.write_text(text)
    (options.write.parent / "images" / "cascade-quality.svg").write_text(chart.drawn(page.panels(results)))


if __name__ == "__main__":
    main()
