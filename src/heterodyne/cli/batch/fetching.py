"""Which results a batch has, and where each goes."""

import sys
from pathlib import Path

import click

from heterodyne.cli.batch.batch_client import BatchClient, ShownBatch
from heterodyne.cli.batch.results_file import pieces, write_file
from heterodyne.cli.batch.watch import progress_in_words
from heterodyne.cli.output import bytes_in_words
from heterodyne.domain.errors import HeterodyneError


class NoResults(HeterodyneError):
    """The batch has none, or none yet."""

    code = "no_results"


def fetch_output(client: BatchClient, batch: ShownBatch, path: Path | None, *, is_alone: bool) -> None:
    """To the file, or to stdout; raises NoResults. With errors to come, answers may be absent."""
    if not batch.is_over:
        so_far = ": ".join(filter(None, (batch.status, progress_in_words(batch))))
        raise NoResults(
            f"{batch.id} is not over yet ({so_far}); `heterodyne batch show {batch.id} --watch` waits for its end"
        )
    if batch.output_file_id is None:
        if is_alone or batch.error_file_id is None:
            raise NoResults(f"{batch.id} is {batch.status} and has no answers{_why(batch)}")
        click.echo("no line has an answer", err=True)
        return
    if path is None:
        with client.content(batch.output_file_id) as response:
            for piece in pieces(response):
                sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    else:
        _told(path, write_file(client, batch.output_file_id, path))
    if is_alone and batch.error_file_id is not None:
        click.echo("some lines have no answer; --errors FILE says why", err=True)


def fetch_errors(client: BatchClient, batch: ShownBatch, path: Path | None) -> None:
    """To the file, if one is named and there is something to write."""
    if path is None:
        return
    if batch.error_file_id is None:
        click.echo(f"every line has an answer; {path} is not written", err=True)
    else:
        _told(path, write_file(client, batch.error_file_id, path))


def _why(batch: ShownBatch) -> str:
    if batch.errors is not None and batch.errors.data:
        return f": {batch.errors.data[0].message}"
    return "; --errors FILE says why" if batch.error_file_id is not None else ""


def _told(path: Path, size_bytes: int) -> None:
    click.echo(f"{bytes_in_words(size_bytes)} in {path}", err=True)
