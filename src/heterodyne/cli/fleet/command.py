"""`heterodyne fleet`: see the fleet of a running gateway, and change it without dropping a stream."""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from heterodyne.cli.admin_options import admin_options

if TYPE_CHECKING:
    from heterodyne.cli.admin_client import AdminClient
    from heterodyne.console.fleet.forms import Selection

POLL_S = 0.2
WAIT_FAILED = 1


@click.group()
def fleet() -> None:
    """See the fleet of a running gateway, and change it without dropping a stream.

    \b
    Examples:
      heterodyne fleet status
      heterodyne fleet drain chat-0 --wait
      heterodyne fleet add chat http://10.0.0.7:8000
      heterodyne fleet reload
    """


def selecting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which replicas are meant."""
    command = click.option("--pool", metavar="NAME", help="All replicas of this pool.")(command)
    return click.argument("replica", required=False)(command)


wait_option = click.option("--wait", "wait_s", is_flag=False, flag_value=600.0, type=float, metavar="SECONDS",
                           help="Wait until it is done, at most this long (600 when not said).")  # fmt: skip


@fleet.command()
@admin_options
def status(*, url: str, key_env: str, as_json: bool) -> None:
    """Show every replica: state, load, price, and what is wrong with it.

    \b
    Examples:
      heterodyne fleet status
      heterodyne fleet status --json
      heterodyne fleet status --url http://10.0.0.1:8081 --key-env OPS_KEY
    """
    from heterodyne.cli.fleet.replica_table import HEADER, footnotes, table_rows
    from heterodyne.cli.output import print_json, print_table

    page = _client(url, key_env).fleet()
    if as_json:
        print_json(page)
        return
    print_table(HEADER, table_rows(page))
    for note in footnotes(page):
        click.echo(note, err=True)


@fleet.command()
@selecting_options
@wait_option
@admin_options
def drain(
    *, replica: str | None, pool: str | None, wait_s: float | None, url: str, key_env: str, as_json: bool
) -> None:
    """Give a replica or a pool nothing new; what it has may finish. It stays so until `undrain`, reloads included.

    \b
    Examples:
      heterodyne fleet drain chat-0
      heterodyne fleet drain --pool chat --wait 60
    """
    client = _client(url, key_env)
    ids = _change(client, "drain", _selection(replica, pool), as_json=as_json)
    _wait(client, ids, {"drained"}, wait_s)


@fleet.command()
@selecting_options
@admin_options
def undrain(*, replica: str | None, pool: str | None, url: str, key_env: str, as_json: bool) -> None:
    """Let a drained replica or pool take work again.

    \b
    Examples:
      heterodyne fleet undrain chat-0
      heterodyne fleet undrain --pool chat
    """
    _change(_client(url, key_env), "undrain", _selection(replica, pool), as_json=as_json)


@fleet.command()
@selecting_options
@wait_option
@admin_options
def restart(
    *, replica: str | None, pool: str | None, wait_s: float | None, url: str, key_env: str, as_json: bool
) -> None:
    """Drain, restart and undrain a replica that was started here, or those of a pool one after the other.

    \b
    Examples:
      heterodyne fleet restart chat-0 --wait
      heterodyne fleet restart --pool chat
    """
    client = _client(url, key_env)
    ids = _change(client, "restart", _selection(replica, pool), as_json=as_json)
    if wait_s is not None:
        time.sleep(POLL_S)  # until the first of them has begun
    _wait(client, ids, {"ready", "drained"}, wait_s)


@fleet.command()
@click.argument("pool")
@click.argument("replica_url", metavar="URL")
@click.option("--without-key", is_flag=True, help="Do not send it the pool's key (`api_key_env`).")
@admin_options
def add(*, pool: str, replica_url: str, without_key: bool, url: str, key_env: str, as_json: bool) -> None:
    """Add a replica that runs at URL to a POOL; it stays until the next reload. A pool's key is sent only to origins of
    its `urls` and `api_key_origins`.

    \b
    Examples:
      heterodyne fleet add chat http://10.0.0.7:8000
      heterodyne fleet add hosted http://10.0.0.8:8000 --without-key
    """
    from heterodyne.console.fleet.forms import Addition

    addition = Addition(pool=pool, url=replica_url, without_key=without_key)
    _change(_client(url, key_env), "add", addition, as_json=as_json)


@fleet.command()
@selecting_options
@wait_option
@admin_options
def remove(
    *, replica: str | None, pool: str | None, wait_s: float | None, url: str, key_env: str, as_json: bool
) -> None:
    """Take a replica or a pool out of the fleet, once what it has is finished; the next reload brings it back.

    \b
    Examples:
      heterodyne fleet remove chat-2
      heterodyne fleet remove --pool old --wait
    """
    client = _client(url, key_env)
    ids = _change(client, "remove", _selection(replica, pool), as_json=as_json)
    _wait(client, ids, set(), wait_s)


@fleet.command()
@click.option("--alone", is_flag=True, help="On this gateway only, whatever the others have.")
@admin_options
def reload(*, alone: bool, url: str, key_env: str, as_json: bool) -> None:
    """Have the settings read again, as SIGHUP does; bad ones are refused and every problem is shown.

    Where gateways share a fleet (stores.fleet_url) all of them take their files, which have to say the same, or none.

    \b
    Examples:
      heterodyne fleet reload
      heterodyne fleet reload --json
      heterodyne fleet reload --alone
    """
    from heterodyne.cli.output import print_json
    from heterodyne.console.fleet.forms import ReloadOrder

    done = _client(url, key_env).reload(ReloadOrder(alone=alone))
    if as_json:
        print_json(done)
        return
    for word in ("started", "stopped", "changed"):
        if ids := getattr(done, word):
            click.echo(f"{word}: {', '.join(ids)}")
    if not (done.started or done.stopped or done.changed):
        click.echo("the fleet is the same")
    if done.gateways:
        click.echo(f"settings {done.settings} hold at {', '.join(done.gateways)}")
    if done.note:
        click.echo(done.note, err=True)
    if done.dropped:
        click.echo(f"added while running, and dropped: {', '.join(done.dropped)}", err=True)
    if done.needs_restart:
        click.echo(f"wait for a restart: {', '.join(done.needs_restart)}", err=True)
    if not done.is_applied:
        click.echo("some worker has not taken it yet; `heterodyne fleet status` tells", err=True)


def _client(url: str, key_env: str) -> "AdminClient":
    from heterodyne.cli.admin_client import AdminClient

    return AdminClient(url, os.environ.get(key_env))


def _selection(replica: str | None, pool: str | None) -> "Selection":
    from heterodyne.console.fleet.forms import Selection

    if (replica is None) == (pool is None):
        raise click.UsageError("name either a REPLICA or a --pool; `heterodyne fleet status` shows those there are")
    return Selection(replica=replica, pool=pool)


def _change(client: "AdminClient", name: str, body: Any, *, as_json: bool) -> tuple[str, ...]:
    from heterodyne.cli.output import print_json

    done = client.change(name, body)
    if as_json:
        print_json(done)
    else:
        click.echo(f"{name}: {', '.join(done.replicas)}")
        if done.note:
            click.echo(done.note, err=True)
        if not done.is_applied and name != "restart":
            click.echo("some worker has not taken it yet; `heterodyne fleet status` tells", err=True)
    return done.replicas


def _wait(client: "AdminClient", ids: tuple[str, ...], states: set[str], wait_s: float | None) -> None:
    """Until each of them is in one of these states, or gone."""
    if wait_s is None:
        return
    until_s = time.monotonic() + wait_s
    while waiting := [
        f"{row.id} ({row.state})" for row in client.fleet().replicas if row.id in ids and row.state not in states
    ]:
        if time.monotonic() > until_s:
            click.echo(f"not done within {wait_s:g} s: {', '.join(waiting)}", err=True)
            raise SystemExit(WAIT_FAILED)
        time.sleep(POLL_S)
