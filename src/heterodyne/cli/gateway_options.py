"""The options of commands that ask a gateway as its users do: its address, and the key it wants."""

from collections.abc import Callable
from typing import Any

import click

from heterodyne.cli.settings_address import gateway_url


def gateway_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--url` and `--api-key`."""
    for option in (
        click.option("--api-key", envvar="HETERODYNE_API_KEY", show_envvar=True, help="Key the gateway wants."),
        click.option(
            "--url", callback=_or_gateway_url, metavar="URL", help="Gateway to ask; else the address in the settings."
        ),
    ):
        command = option(command)
    return command


def _or_gateway_url(ctx: click.Context, _: click.Parameter, value: str | None) -> str:
    return gateway_url(ctx) if value is None else value
