"""A progress bar on stderr for downloads, fed by the registry's progress callback."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as Bars

from heterodyne.ports.weights import Progress


@contextmanager
def download_bar() -> Iterator[Progress]:
    """Gives a callback that draws one bar for each thing that is fetched, and nothing while nothing is."""
    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    tasks: dict[str, TaskID] = {}

    def progress(what: str, done_bytes: int, total_bytes: int | None) -> None:
        if what not in tasks:
            for drawn in tasks.values():
                bars.update(drawn, visible=False)  # stopping left it on the screen; it is not drawn twice
            tasks[what] = bars.add_task(what, total=total_bytes)
            bars.start()
        bars.update(tasks[what], completed=done_bytes, total=total_bytes)
        if bars.finished:
            bars.stop()

    try:
        yield progress
    finally:
        bars.stop()
