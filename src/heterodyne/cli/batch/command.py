"""`heterodyne batch`: files of requests that a gateway answers when it has room for them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.gateway_options import gateway_options

if TYPE_CHECKING:
    from heterodyne.cli.batch.batch_client import BatchClient, NewBatch, ShownBatch
    from heterodyne.cli.batch.input_file import BatchInput

SILENCE_S = 120.0  # how long the gateway may take for an answer, or between two pieces of one
NEW_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
def batch() -> None:
    """Have a file of requests answered when there is room for them.

    Each line of the file is a request in the form of OpenAI's Batch API. Lines are answered in the capacity that
    interactive work leaves, within the window that is asked for.

    \b
    Examples:
      heterodyne batch submit requests.jsonl --wait
      heterodyne batch list
      heterodyne batch fetch batch_1f9c -o answers.jsonl --errors failed.jsonl
    """


@batch.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE.jsonl")
@click.option("--endpoint", metavar="PATH", help="What the lines ask, as /v1/embeddings; else the url of the first.")
@click.option("--window", default="24h", show_default=True, metavar="TIME", help="When answers are due: 30m, 24h, 7d.")
@click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="A word to know the batch by; may be repeated.")
@click.option("--wait", is_flag=True, help="Stay until it is over; exit 0 if it was completed, else 1.")
@click.option("--json", "as_json", is_flag=True, help="Print the batch as JSON.")
@gateway_options
def submit(
    *,
    file: Path,
    endpoint: str | None,
    window: str,
    metadata: tuple[str, ...],
    wait: bool,
    as_json: bool,
    url: str,
    api_key: str | None,
) -> None:
    """Send a file and have it worked on; prints the id of the batch.

    Ctrl-C ends the waiting, and not the batch.

    \b
    Examples:
      heterodyne batch submit requests.jsonl
      heterodyne batch submit requests.jsonl --window 7d --metadata job=nightly
      heterodyne batch submit requests.jsonl --wait && echo done
    """
    from heterodyne.cli.batch.batch_client import NewBatch
    from heterodyne.cli.batch.batch_table import print_batch
    from heterodyne.cli.batch.input_file import look_at

    words = _metadata(metadata)
    given, client = look_at(file, endpoint), _client(url, api_key)
    file_id = _send(client, given, is_json=as_json)
    wanted = NewBatch(input_file_id=file_id, endpoint=given.endpoint, completion_window=window, metadata=words)
    made = _create(client, wanted)
    if not as_json:
        click.echo(made.id)
        sys.stdout.flush()  # a script that reads it need not wait for the end
    if wait:
        made = _wait(client, made, is_json=as_json)
    if as_json:
        print_batch(made, as_json=True)
    if wait and not made.is_completed:
        raise SystemExit(1)


@batch.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Most that are shown.")
@click.option("--json", "as_json", is_flag=True, help="Print the batches as JSON.")
@gateway_options
def list_command(*, limit: int, as_json: bool, url: str, api_key: str | None) -> None:
    """Show the batches of the project, the newest first.

    \b
    Examples:
      heterodyne batch list
      heterodyne batch list --limit 100 --json
    """
    from heterodyne.cli.batch.batch_table import print_batches
    from heterodyne.cli.output import print_json

    found = _client(url, api_key).batches(limit)
    if as_json:
        print_json(found)
    else:
        print_batches(found)


@batch.command()
@click.argument("id")
@click.option("--watch", is_flag=True, help="Stay until it is over; exit 0 if it was completed, else 1.")
@click.option("--json", "as_json", is_flag=True, help="Print the batch as JSON.")
@gateway_options
def show(*, id: str, watch: bool, as_json: bool, url: str, api_key: str | None) -> None:
    """Show how far a batch is, and when its last answer is expected.

    \b
    Examples:
      heterodyne batch show batch_1f9c
      heterodyne batch show batch_1f9c --watch
    """
    from heterodyne.cli.batch.batch_table import print_batch

    client = _client(url, api_key)
    found = client.batch(id)
    if watch:
        found = _wait(client, found, is_json=as_json)
    print_batch(found, as_json=as_json)
    if watch and not found.is_completed:
        raise SystemExit(1)


@batch.command()
@click.argument("id")
@click.option("--json", "as_json", is_flag=True, help="Print the batch as JSON.")
@gateway_options
def cancel(*, id: str, as_json: bool, url: str, api_key: str | None) -> None:
    """Ask no more lines of a batch; what is answered by then can be fetched.

    \b
    Examples:
      heterodyne batch cancel batch_1f9c
    """
    from heterodyne.cli.batch.batch_table import print_batch

    found = _client(url, api_key).cancel(id)
    if as_json:
        print_batch(found, as_json=True)
    else:
        click.echo(f"{found.id} is {found.status}", err=True)


@batch.command()
@click.argument("id")
@click.option("-o", "--output", "out", type=NEW_FILE, metavar="FILE", help="Where answers go; else to stdout.")
@click.option("--errors", type=NEW_FILE, metavar="FILE", help="Where lines without an answer go.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@gateway_options
def fetch(*, id: str, out: Path | None, errors: Path | None, force: bool, url: str, api_key: str | None) -> None:
    """Fetch the results of a batch that is over.

    \b
    Examples:
      heterodyne batch fetch batch_1f9c -o answers.jsonl --errors failed.jsonl
      heterodyne batch fetch batch_1f9c | jq .response.body.choices[0].message.content
    """
    from heterodyne.cli.batch.fetching import fetch_errors, fetch_output
    from heterodyne.cli.batch.results_file import check_free

    if out is not None and errors is not None and out.absolute() == errors.absolute():
        raise click.UsageError("--output and --errors name one file")
    for path in (out, errors):
        check_free(path, may_replace=force)
    client = _client(url, api_key)
    found = client.batch(id)
    fetch_output(client, found, out, is_alone=errors is None)
    fetch_errors(client, found, errors)


def _client(url: str, api_key: str | None) -> "BatchClient":
    from heterodyne.cli.batch.batch_client import BatchClient

    return BatchClient(url, api_key, SILENCE_S)


def _metadata(pairs: tuple[str, ...]) -> dict[str, str] | None:
    split = [pair.partition("=") for pair in pairs]
    for key, equals, value in split:
        if not key or not equals:
            raise click.BadParameter(f'"{key}{equals}{value}" is not KEY=VALUE', param_hint="--metadata")
    return {key: value for key, _, value in split} or None


def _send(client: "BatchClient", given: "BatchInput", *, is_json: bool) -> str:
    from heterodyne.cli.batch.input_file import UploadForm
    from heterodyne.cli.progress import counting

    with counting(f"sending {given.path.name}", given.size_bytes, is_json=is_json) as sent:
        form = UploadForm(given, sent)
        return client.upload(form, form.headers)


def _create(client: "BatchClient", wanted: "NewBatch") -> "ShownBatch":
    """A file whose batch is refused is of no use to anybody."""
    from contextlib import suppress

    from heterodyne.cli.gateway_client import SERVER_ERROR, GatewayRefused
    from heterodyne.domain.errors import HeterodyneError

    try:
        return client.create(wanted)
    except GatewayRefused as refused:
        if refused.status < SERVER_ERROR:  # else it may be there all the same
            with suppress(HeterodyneError):
                client.delete_file(wanted.input_file_id)
        raise


def _wait(client: "BatchClient", found: "ShownBatch", *, is_json: bool) -> "ShownBatch":
    from heterodyne.cli.batch.watch import BatchWatch, progress_in_words

    ended = BatchWatch(client).until_over(found, is_json=is_json)
    click.echo(", ".join(filter(None, (ended.status, progress_in_words(ended)))), err=True)
    return ended
