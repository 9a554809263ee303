"""Work shared out to processes, with a line that says how far it is."""

import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


def in_parallel(function: Callable[[Work], Result], work: Sequence[Work], *, processes: int, word: str) -> list[Result]:
    """Results in the order of the work; processes are forked, so that all of them have what was read once."""
    results = []
    with get_context("fork").Pool(processes) as pool:
        for result in pool.imap(function, work):
            results.append(result)
            print(f"\r{word}: {len(results)} of {len(work)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return results
