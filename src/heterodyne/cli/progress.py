"""How far a long command has come, on stderr of a terminal: never in a pipe, never beside JSON."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def counting(what: str, length: int, *, is_json: bool) -> Iterator[Callable[[int], None]]:
    """A bar; the function given is called with how many more are done."""
    if not is_watched(is_json=is_json):
        yield lambda _: None
        return
    with click.progressbar(length=length, label=what, file=sys.stderr) as bar:
        yield bar.update


@contextmanager
def working(what: str, *, is_json: bool) -> Iterator[None]:
    """A word that work of unknown length goes on; it is gone when the work is done."""
    if not is_watched(is_json=is_json):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        yield


def is_watched(*, is_json: bool) -> bool:
    """Whether somebody sees a bar, and no machine reads it."""
    return not is_json and sys.stderr.isatty()
