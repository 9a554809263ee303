"""Where the gateway and the admin API of these settings are: what every command asks that is given no `--url`."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from heterodyne.cli.invocation import Invocation

if TYPE_CHECKING:
    from heterodyne.console.settings import ConsoleSettings
    from heterodyne.gateway.settings import GatewaySettings

KEY_VARIABLE = "HETERODYNE_OPERATOR_KEY"


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


def gateway_url(ctx: click.Context) -> str:
    """Of the OpenAI API."""
    from heterodyne.domain.local_address import local_url

    gateway: GatewaySettings = _section(ctx, "gateway")
    return local_url("https" if gateway.tls_certificate else "http", gateway.host, gateway.port)


def _or_admin_url(ctx: click.Context, _: click.Parameter, value: str | None) -> str:
    from heterodyne.domain.local_address import local_url

    if value is not None:
        return value
    console: ConsoleSettings = _section(ctx, "console")
    return local_url("http", console.host, console.port)


def _section(ctx: click.Context, name: str) -> Any:
    """One section; a mistake elsewhere in the settings keeps nobody from asking the gateway that runs."""
    from heterodyne.config.load import section_alone
    from heterodyne.config.problems import SettingsProblems

    invocation = ctx.find_object(Invocation) or Invocation()
    try:
        return getattr(invocation.settings(), name)
    except SettingsProblems:
        return section_alone(name, invocation.config_path, os.environ, invocation.overrides)
