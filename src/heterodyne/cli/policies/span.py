"""The span of time that figures of guards, caches and cascades are of."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.moment import moment_s


def span_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Since when, until when; and the options of whatever asks the admin API."""
    for option in (
        click.option("--until", callback=moment_s, metavar="TIME", help="Before this time; now when not said."),
        click.option(
            "--since",
            callback=moment_s,
            metavar="TIME",
            help="From this time on, as 2026-03-01T12:30, UTC unless it says; the last hour when not said.",
        ),
    ):
        command = option(command)
    return admin_options(command)


def query(path: str, **words: str | float | None) -> str:
    """A path with what was given."""
    given = {name: value for name, value in words.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
