"""`heterodyne abuse`: keys that were found, what is held against them, and how that is lifted."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from heterodyne.cli.admin_options import admin_options

if TYPE_CHECKING:
    from heterodyne.cli.admin_client import AdminClient
    from heterodyne.console.abuse.pages import AbuseCase


@click.group()
def abuse() -> None:
    """See which keys policies against abuse have found, and lift what is held against them.

    A key that is slowed down or blocked is free again by itself at the time that its policy has set. To end a stolen
    key for good, revoke it.

    \b
    Examples:
      heterodyne abuse list
      heterodyne abuse lift k_3f9a0c51
      heterodyne keys revoke k_3f9a0c51
    """


@abuse.command("list")
@admin_options
def list_command(*, url: str, key_env: str, as_json: bool) -> None:
    """Show the keys that were found, the latest first.

    \b
    Examples:
      heterodyne abuse list
      heterodyne abuse list --json
    """
    from heterodyne.cli.output import print_json

    page = _client(url, key_env).abuse()
    if as_json:
        print_json(page)
    elif not page.cases:
        click.echo("no key was found" if page.is_on else "there are no policies against abuse in the settings")
    else:
        print_cases(page.cases)


@abuse.command()
@click.argument("key")
@admin_options
def lift(*, key: str, url: str, key_env: str, as_json: bool) -> None:
    """Hold nothing against a KEY any more; its policies leave it alone for as long as they would have held it.

    \b
    Examples:
      heterodyne abuse lift k_3f9a0c51
      heterodyne abuse lift k_3f9a0c51 --json
    """
    from heterodyne.cli.output import print_json

    lifted = _client(url, key_env).lift_abuse(key)
    if as_json:
        print_json(lifted)
        return
    policies = ", ".join(sorted({one.policy for one in lifted.cases}))
    click.echo(f"{key} is free; {policies} leaves it alone until {_moment(lifted.quiet_until_at)} UTC", err=True)
    if not lifted.is_applied:
        click.echo("some worker does not work by that yet", err=True)


def print_cases(cases: Iterable["AbuseCase"]) -> None:
    """A row for each."""
    from heterodyne.cli.output import print_table

    print_table(
        ["KEY", "PROJECT", "POLICY", "RULE", "ACTION", "FOUND (UTC)", "UNTIL (UTC)", "FIGURES"],
        [
            [
                one.key,
                one.project,
                one.policy,
                one.rule,
                one.action,
                _moment(one.found_at),
                _moment(one.until_at),
                one.detail,
            ]
            for one in cases
        ],
    )


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _client(url: str, key_env: str) -> "AdminClient":
    from heterodyne.cli.admin_client import AdminClient

    return AdminClient(url, os.environ.get(key_env))
