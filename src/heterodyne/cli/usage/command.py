"""`heterodyne usage`: who used what, when, where and at what price."""

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from heterodyne.cli.admin_options import admin_url_option, is_default_url
from heterodyne.cli.invocation import Invocation
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.books.export import ExportFormat
    from heterodyne.cli.usage.usage_source import UsageSource
    from heterodyne.domain.usage import RequestQuery, UsageGroup

DAYS = 30  # shown without --since
PAGE = 1000
FILTERS = ("organisation", "project", "key", "model", "pool", "class", "tier", "hardware")


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where to read."""
    store = click.option("--store", metavar="URL", help="Read this database: sqlite:PATH or postgresql://…")
    return admin_url_option(store(command))


def range_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which days."""
    for option in (
        click.option("--until", metavar="DAY", help="The first UTC day that is left out; none when not said."),
        click.option(
            "--since", metavar="DAY", help=f"The first UTC day, as 2026-11-01; {DAYS} days ago when not said."
        ),
    ):
        command = option(command)
    return command


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whose."""
    for name in reversed(FILTERS):
        command = click.option(f"--{name}", f"only_{name}", metavar="NAME", help=f"Only this {name}.")(command)
    return command


format_option = click.option("--format", "style", type=click.Choice(["table", "csv", "json"]), default="table",
                             show_default=True, help="How to print it.")  # fmt: skip


@click.group(invoke_without_command=True)
@click.option(
    "--by",
    default="project,model",
    show_default=True,
    metavar="GROUPS",
    help="day, organisation, project, key, model, pool, class, tier, hardware; several with commas.",
)
@range_options
@filter_options
@format_option
@source_options
@click.pass_context
def usage(
    context: click.Context,
    /,
    *,
    by: str,
    since: str | None,
    until: str | None,
    style: str,
    url: str,
    key_env: str,
    store: str | None,
    **only: str | None,
) -> None:
    """Say who used what: requests, tokens and dollars, by any group, over whole UTC days.

    \b
    Examples:
      heterodyne usage
      heterodyne usage --by project,model,day --since 2026-11-01
      heterodyne usage --by key --project acme/search --format csv
      heterodyne usage --store sqlite:/var/lib/heterodyne/heterodyne.db
      heterodyne usage idle
      heterodyne usage export --format parquet --out november.parquet
    """
    if context.invoked_subcommand is not None:
        return
    from heterodyne.cli.usage.usage_table import print_usage
    from heterodyne.console.usage.query import read_groups
    from heterodyne.domain.usage import UsageQuery

    groups = read_groups(by)
    query = UsageQuery(by=groups, since=since or _days_ago(), until=until, where=_where(only))
    print_usage(_source(store, url, key_env).usage(query), groups, style)


@usage.command()
@range_options
@format_option
@source_options
def idle(*, since: str | None, until: str | None, style: str, url: str, key_env: str, store: str | None) -> None:
    """Say what pools paid by the hour cost: used by requests, and while idle.

    \b
    Examples:
      heterodyne usage idle
      heterodyne usage idle --since 2026-11-01 --until 2026-12-01 --format csv
    """
    from heterodyne.cli.usage.usage_table import print_idle

    print_idle(_source(store, url, key_env).idle(since or _days_ago(), until), style)


@usage.command()
@click.option("--format", "kind", type=click.Choice(["csv", "jsonl", "parquet"]), default="csv", show_default=True,
              help="Parquet needs the extra `parquet`.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Where to write; the terminal when not said.")  # fmt: skip
@range_options
@filter_options
@source_options
def export(
    *,
    kind: str,
    out: Path | None,
    since: str | None,
    until: str | None,
    url: str,
    key_env: str,
    store: str | None,
    **only: str | None,
) -> None:
    """Write every single request, the newest first.

    \b
    Examples:
      heterodyne usage export --format parquet --out november.parquet --since 2026-11-01 --until 2026-12-01
      heterodyne usage export --format jsonl --project acme/search > search.jsonl
    """
    from heterodyne.books.export import ExportFormat
    from heterodyne.domain.usage import RequestQuery

    query = RequestQuery(
        since_at=_seconds("since", since or _days_ago()),
        until_at=_seconds("until", until),
        where=_where(only),
        limit=PAGE,
    )
    if out is None:
        if kind == ExportFormat.PARQUET:
            raise click.UsageError("parquet needs --out FILE")
        _export(_source(store, url, key_env), query, ExportFormat(kind), sys.stdout.buffer)
        return
    partial = out.with_name(out.name + ".partial")
    try:
        with partial.open("wb") as file:
            count = _export(_source(store, url, key_env), query, ExportFormat(kind), file)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    click.echo(f"{counted(count, 'request')} in {out}", err=True)


def _export(source: "UsageSource", query: "RequestQuery", kind: "ExportFormat", file: BinaryIO) -> int:
    from msgspec.structs import replace

    from heterodyne.books.export import open_export

    writer = open_export(kind, file)
    count = 0
    try:
        while True:
            page = source.requests(query)
            writer.add(page.requests)
            count += len(page.requests)
            if page.next is None:
                return count
            query = replace(query, after=page.next)
    finally:
        writer.close()


def _source(store: str | None, url: str, key_env: str) -> "UsageSource":
    """The database where one is named, else the gateway, else the database of the settings."""
    from heterodyne.cli.usage.usage_source import AdminUsage, EitherUsage, StoreUsage

    if store is not None:
        return StoreUsage(store)
    admin = AdminUsage(url, os.environ.get(key_env))
    if not is_default_url():
        return admin
    invocation = click.get_current_context().find_object(Invocation) or Invocation()
    return EitherUsage(admin, lambda: StoreUsage(invocation.settings().stores.url))


def _where(only: dict[str, str | None]) -> "dict[UsageGroup, str]":
    from heterodyne.domain.usage import UsageGroup

    return {UsageGroup(name.removeprefix("only_")): value for name, value in only.items() if value is not None}


def _days_ago() -> str:
    return (datetime.now(UTC) - timedelta(days=DAYS)).strftime("%Y-%m-%d")


def _seconds(name: str, day: str | None) -> float | None:
    from heterodyne.domain.usage import check_day

    check_day(name, day)
    return None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
