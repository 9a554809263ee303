"""Runs the translation matrix and writes it down: `make translation`, or `python -m tests.translation.page FILE`."""

import sys
from pathlib import Path

import uvloop

from tests.translation.chains import ENGINES
from tests.translation.clients import CLIENTS
from tests.translation.expected import CELLS, COLUMNS, NAMED, SAME, Refusal, outcome
from tests.translation.matrix import EXAMPLES, Ran, run_pair

HEAD = f"""\
# Translation matrix

Written by `make translation`; do not edit. Every cell is also a test
([`tests/translation`](../tests/translation)).

The client of an API's own maker asks a gateway whose pool is of one engine. Where that engine has an API of its own, it
is a second gateway, which reads that API as it does from the maker's client and asks a scripted engine as OpenAI's chat
([decision 15](decisions/0015-one-neutral-request.md)); otherwise the scripted engine is asked at once. What arrives at
its end is compared with what the client meant: roles, texts, pictures, tools with their schemas, calls, results by the
id of the call, schema, stop texts, length, effort. What the client reads out of its answer is compared with what the
engine said: text, thoughts, calls in their order, why it ended, tokens with those that were cached and thought. Texts
are drawn by a seed and hard to carry: quotes, escapes, newlines, event-stream syntax, scripts of several directions.
Each of {EXAMPLES} conversations a cell is asked whole and streamed.

- **same**: nothing was invented and nothing lost.
- **named**: one thing was not carried, was named in `x-heterodyne-not-carried`, and all else was the same.
- **refused**: 400 with its path, before any engine was asked.

*error*: an engine's 400, 429, 500 and 503, and a stream that breaks, are the client's own exceptions (or Responses'
`response.failed`), with the status that they should have. *cancel*: a client that goes away at the first word ends the
call of the engine at the end.

`vllm` stands for all engines that take OpenAI's bodies as they are. The scripted engine of `bedrock-converse` speaks
Converse itself, and what it is asked is held to `botocore`'s description of that.

"""
TAIL = """\

What an API has no word for is not asked of it: only OpenAI's APIs and Converse describe the schema of an answer,
Gemini's tools are not strict, Gemini, Converse and Responses do not say which stop text ended an answer, Converse takes
no pictures by address and does not count thoughts. A text that a tool gave back is `output` of
an object in Gemini's API, which by its definition is the same. A 429 of an engine of one's own is 503, for it is busy
and limits nobody.
"""


def rows() -> list[str]:
    """The table's lines, as the tests expect them."""
    return [
        f"| {client} | {engine} | " + " | ".join(_word(outcome((client, engine, column))) for column in COLUMNS) + " |"
        for client in CLIENTS
        for engine in ENGINES
    ]


def render(ran: list[Ran]) -> str:
    """The page."""
    requests = sum(sum(one.requests.values()) for one in ran)
    counts = {
        "cells": len(CELLS),
        "same": sum(outcome(cell) == SAME for cell in CELLS),
        "named": sum(outcome(cell).startswith("named") for cell in CELLS),
        "refused": sum(outcome(cell).startswith("refused") for cell in CELLS),
        "requests": requests,
    }
    lines = ["| | |", "|---|---:|", *(f"| {name} | {count} |" for name, count in counts.items()), ""]
    lines += [f"| Client | Engine | {' | '.join(COLUMNS)} |", "|---|---|" + "---|" * len(COLUMNS), *rows(), ""]
    lines += ["| Not carried | How | Cells | Why |", "|---|---|---:|---|", *_reasons()]
    return HEAD + "\n".join(lines) + "\n" + TAIL


def _word(told: str) -> str:
    return told if told == SAME else f"**{told.partition(' ')[0]}**"


def _reasons() -> list[str]:
    found = dict.fromkeys((one.path, isinstance(one, Refusal), one.why) for one in NAMED.values())
    return [
        f"| `{path}` | {'refused' if is_refused else 'named'} | {_count(path)} | {why} |"
        for path, is_refused, why in found
    ]


def _count(path: str) -> int:
    return sum(one.path == path for one in NAMED.values())


def main() -> None:
    """The command line of this module."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.translation.page FILE")
    ran = [uvloop.run(run_pair(client, engine)) for client in CLIENTS for engine in ENGINES]
    failures = {cell: error for one in ran for cell, error in one.failures.items()}
    for cell, error in failures.items():
        print(*cell, f"{type(error).__name__}: {error}", file=sys.stderr)
    if failures:
        sys.exit(f"{len(failures)} cells do otherwise than tests/translation/expected.py says")
    Path(sys.argv[1]).write_text(render(ran), encoding="utf-8")


if __name__ == "__main__":
    main()
