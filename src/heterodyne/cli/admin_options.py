"""The options of every command that asks the admin API: its address, the operator's key, and the form of the answer."""

from collections.abc import Callable
from typing import Any

import click

from heterodyne.cli.settings_address import admin_url

KEY_VARIABLE = "HETERODYNE_OPERATOR_KEY"


def admin_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where the admin API is, and how to answer."""
    return admin_url_option(click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(command))


def admin_url_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--url` of the admin API, and the variable that holds its key."""
    for option in (
        click.option(
            "--key-env",
            default=KEY_VARIABLE,
            show_default=True,
            metavar="NAME",
            help="Environment variable that holds the operator key.",
        ),
        click.option(
            "--url",
            callback=_or_admin_url,
            metavar="URL",
            help="Address of the admin API; else that of the settings (console.host, console.port).",
        ),
    ):
        command = option(command)
    return command


def is_default_url() -> bool:
    """Whether the words of this command name no address."""
    return click.get_current_context().get_parameter_source("url") is click.core.ParameterSource.DEFAULT


def _or_admin_url(ctx: click.Context, _: click.Parameter, value: str | None) -> str:
    return admin_url(ctx) if value is None else value
