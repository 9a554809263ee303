"""Writes down what the tests of policies try: `make guard-matrix`, or `python -m tests.guards.page FILE`."""

import sys
from pathlib import Path

from tests.guards.matrix import COLUMNS, counts, rows

HEAD = """\
# No path around the policies

Written by `make guard-matrix`; do not edit. Every cell is a test that plants a secret
([`tests/guards`](../tests/guards), [`tests/caching`](../tests/caching)): **in**, in what a client sends, which must
reach no engine; **out**, in what an engine says, of which no character may reach the client. `-`: the route has no such
way.

- *plain*: asked and answered whole. *stream*: the same as a stream, in events of three characters.
- *batch*: as a line of a batch. *tool result*: in what a tool said. *tool call*: in the arguments of a call, whole and
  streamed.
- *cached*: looked up among kept answers, and told from one that was kept before there was a policy, whole and streamed.
- *cascaded*: asked of the cheap model first, whose answer is kept.
- *continued*: one replica breaks off in the middle of a secret and another goes on; what was masked for the first is
  masked for the second.

A route that is added and not listed fails a test, and so does a way that no test tries. That no cut of an answer into
events lets a character of a blocked span through is tried on invented cuts by
[`test_safety_streams.py`](../tests/property/test_safety_streams.py).

"""


def page() -> str:
    """All of it."""
    table = [f"| Route | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS), *rows()]
    sums = ["| Way | Cells in | Cells out |", "|---|--:|--:|", *counts()]
    return HEAD + "\n".join([*table, "", *sums, ""])


def main() -> None:
    """Write the file."""
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
