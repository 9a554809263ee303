"""`make bench-guards`: how well personal data are found in public texts, and what it takes."""

import argparse
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.safety.pii_page import render
from benchmarks.safety.pii_scores import Ordinary, edge_cases, ordinary, spans, times_us
from benchmarks.safety.turns import of_guards


def main() -> None:
    """Read the folder of data, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with guardrail_pii, perhaps also eval_sets")
    parser.add_argument("--write", type=Path, default=None, help="page to write, e.g. docs/pii-accuracy.md")
    options = parser.parse_args()
    pii = options.data / "guardrail_pii"
    with lzma.open(pii / "presidio_synth_dataset_v2.json.xz") as file:
        rows = json.load(file)
    cases = _lines(gzip.open, pii / "presidio_recognizer_cases_a.jsonl.gz")
    page = render(
        development=spans([row for row in rows if row["template_id"] % 2 == 0]),
        held_out=spans([row for row in rows if row["template_id"] % 2 == 1]),
        cases=edge_cases(cases),
        ordinary=_ordinary(options.data / "eval_sets"),
        times=times_us(),
        turns=list(of_guards()),
    )
    if options.write is None:
        print(page)
    else:
        options.write.write_text(page)


def _ordinary(folder: Path) -> list[Ordinary]:
    """Prompts that are nobody's, where the folder has them."""
    found = []
    for name, file, column, opener in (
        ("HumanEval (code)", "HumanEval.jsonl.gz", "prompt", gzip.open),
        ("IFEval (instructions)", "ifeval_input_data.jsonl.gz", "prompt", gzip.open),
        ("BIG-Bench Hard (puzzles)", "bbh.jsonl.xz", "input", lzma.open),
    ):
        if (folder / file).exists():
            found.append(ordinary(name, [row[column] for row in _lines(opener, folder / file)]))
    return found


def _lines(opener: Callable[..., Any], path: Path) -> list[dict[str, Any]]:
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    main()
