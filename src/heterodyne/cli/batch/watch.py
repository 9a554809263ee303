"""Looks at a batch until it is over, with a bar on a terminal; a gateway that is away for a while is waited for."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from heterodyne.cli.batch.batch_client import BatchClient, ShownBatch
from heterodyne.cli.batch.batch_table import moment
from heterodyne.cli.gateway_client import SERVER_ERROR, GatewayRefused, GatewayUnreachable
from heterodyne.cli.progress import is_watched
from heterodyne.domain.errors import EngineBroke, HeterodyneError

LOOK_S = 1.0
LOOK_LATER_S = 10.0  # once it is clear that it takes longer
QUICK_LOOKS = 60
AWAY_MAX_S = 600.0  # a gateway that is restarted is back before that

Show = Callable[[ShownBatch], None]


class BatchWatch:
    """One wait for the end of one batch. Leaving it, as Ctrl-C does, leaves the batch running."""

    def __init__(self, client: BatchClient, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._sleep = sleep
        self._is_late = False  # and was told so

    def until_over(self, batch: ShownBatch, *, is_json: bool) -> ShownBatch:
        """As it is at its end."""
        try:
            with _bar(batch, is_json=is_json) as show:
                looks = 0
                while not batch.is_over:
                    self._sleep(LOOK_S if looks < QUICK_LOOKS else LOOK_LATER_S)
                    batch = self._look(batch.id)
                    show(batch)
                    self._warn(batch)
                    looks += 1
        except KeyboardInterrupt:
            click.echo(
                f"\nThe batch goes on. `heterodyne batch show {batch.id} --watch` looks at it, "
                f"`heterodyne batch cancel {batch.id}` ends it.",
                err=True,
            )
            raise
        return batch

    def _look(self, id: str) -> ShownBatch:
        """Raises what a gateway says of the batch, and of itself only after a while."""
        away_s = 0.0
        while True:
            try:
                return self._client.batch(id)
            except (GatewayUnreachable, GatewayRefused, EngineBroke) as error:
                if not _may_pass(error) or away_s >= AWAY_MAX_S:
                    raise
                if not away_s:
                    click.echo(f"heterodyne: {error.message}; waiting for it", err=True)
            self._sleep(LOOK_LATER_S)
            away_s += LOOK_LATER_S

    def _warn(self, batch: ShownBatch) -> None:
        is_late = batch.outlook.is_late and not batch.is_over
        if is_late and not self._is_late:
            click.echo(
                f"heterodyne: it will be late: its last line is expected at {moment(batch.outlook.expected_at)}, and "
                f"its window ends at {moment(batch.expires_at)} (UTC); what has no answer by then expires",
                err=True,
            )
        self._is_late = is_late


def _may_pass(error: HeterodyneError) -> bool:
    return not isinstance(error, GatewayRefused) or error.status >= SERVER_ERROR


@contextmanager
def _bar(batch: ShownBatch, *, is_json: bool) -> Iterator[Show]:
    if not is_watched(is_json=is_json):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(batch.status, total=None, words="")

        def show(one: ShownBatch) -> None:
            bars.update(
                task,
                description=one.status,
                completed=one.done,
                total=one.counts.total or None,  # None: a bar that only says that something goes on
                words=progress_in_words(one),
            )

        show(batch)
        yield show


def progress_in_words(batch: ShownBatch) -> str:
    """For example `120 of 500, 2 failed, expected at 2026-05-02 14:10 UTC`."""
    words = [f"{batch.done} of {batch.counts.total}"] if batch.counts.total else []
    if batch.counts.failed:
        words.append(f"{batch.counts.failed} failed")
    if batch.outlook.expected_at is not None and not batch.is_over:
        late = ", late" if batch.outlook.is_late else ""
        words.append(f"expected at {moment(batch.outlook.expected_at)} UTC{late}")
    return ", ".join(words)
