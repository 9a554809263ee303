"""Where the gateway and the admin API of these settings are: what every command asks that is given no `--url`."""

import os
from typing import TYPE_CHECKING, Any

import click

from heterodyne.cli.invocation import Invocation
from heterodyne.domain.local_address import local_url

if TYPE_CHECKING:
    from heterodyne.console.settings import ConsoleSettings
    from heterodyne.gateway.settings import GatewaySettings


def gateway_url(ctx: click.Context) -> str:
    """Of the OpenAI API."""
    gateway: GatewaySettings = _section(ctx, "gateway")
    return local_url("https" if gateway.tls_certificate else "http", gateway.host, gateway.port)


def admin_url(ctx: click.Context) -> str:
    """Of the admin API."""
    console: ConsoleSettings = _section(ctx, "console")
    return local_url("https" if console.tls_certificate else "http", console.host, console.port)


def _section(ctx: click.Context, name: str) -> Any:
    """One section; a mistake elsewhere in the settings does not keep a command from the gateway that runs."""
    from heterodyne.config.load import section_alone
    from heterodyne.config.problems import SettingsProblems

    invocation = ctx.find_object(Invocation) or Invocation()
    try:
        return getattr(invocation.settings(), name)
    except SettingsProblems:
        return section_alone(name, invocation.config_path, os.environ, invocation.overrides)
