"""How far a build has come, on stderr of a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heterodyne.cli.progress import counting


@contextmanager
def stepping(what: str, *, is_json: bool) -> Iterator[Callable[[int, int], None]]:
    """The function given is called with the steps done and how many there are."""
    done_before = 0
    with counting(what, 100, is_json=is_json) as more:

        def on_step(done: int, of: int) -> None:
            nonlocal done_before
            now = 100 * done // of
            more(now - done_before)
            done_before = now

        yield on_step
