"""How good the injection guard is: `python -m benchmarks.safety.injection --data FOLDER --write PAGE`.

Trains fifteen small models, three for each source that is left out, so it takes a few minutes of one core.
"""

import argparse
from pathlib import Path

from benchmarks.safety.injection import corpus, evaluation, page, timing


def main() -> None:
    """Measure, and write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds guardrail_injection and others")
    parser.add_argument("--write", type=Path, help="the page; without it, it is printed")
    arguments = parser.parse_args()
    texts = corpus.read(arguments.data)
    results = page.Results(
        left_out=evaluation.all_left_out(texts),
        shipped=evaluation.shipped(texts),
        timing=timing.measured(),
        corpus=texts,
    )
    text = page.render(results)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
